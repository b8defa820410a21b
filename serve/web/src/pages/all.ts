// The pages of sheets, by kind.

import type { FunctionComponent } from 'preact';
import type { State } from '../core/state';
import type { SheetName } from '../core/url';
import { DataPage } from './data';
import { DiscoveryPage } from './discovery';
import { RepairPage } from './repair';

/** A page for each kind. */
export const sheetPages: Readonly<Partial<Record<SheetName, FunctionComponent<{ s: State }>>>> = { repair: RepairPage, discovery: DiscoveryPage, data: DataPage };
