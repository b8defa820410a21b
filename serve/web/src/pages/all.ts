// The pages of sheets, by kind.

import type { FunctionComponent } from 'preact';
import type { State } from '../core/state';
import type { SheetName } from '../core/url';
import { DataPage } from './data';
import { DiscoveryPage } from './discovery';
import { IdentifyPage } from './identify';
import { ReleasesPage } from './releases';
import { RepairPage } from './repair';
import { RepeatPage } from './repeat';
import { WeightsPage } from './weights';
import { FeaturesPage } from './features';

/** A page for each kind. */
export const sheetPages: Readonly<Record<SheetName, FunctionComponent<{ s: State }>>> = { repair: RepairPage, discovery: DiscoveryPage, data: DataPage, identify: IdentifyPage, watch: ReleasesPage, weights: WeightsPage, embed: FeaturesPage, repeat: RepeatPage };
