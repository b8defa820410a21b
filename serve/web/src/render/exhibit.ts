// Things to look at that an audit shows: tables, curves and maps, as audit/json.go writes them.

import type { Num } from '../core/api';

export interface Scale {
  name: string;
  unit?: string;
  log?: boolean;
}

export interface Series {
  name: string;
  marks?: boolean;
  x: Num[];
  y: Num[];
  lo?: Num[];
  hi?: Num[];
  labels?: string[];
}

export interface Curve {
  x: Scale;
  y: Scale;
  limit?: Num;
  series: Series[];
}

export interface Exhibit {
  name: string;
  title: string;
  note?: string;
  table?: { columns: { name: string; unit?: string; doc?: string }[]; rows: (string | Num)[][] };
  curve?: Curve;
  map?: { height: number; width: number; unit?: string; diverging?: boolean; values: Num[] };
}
