// What the server and the interface say to each other: the JSON documents of version 1. Mirrors the Go package serve/api, which
// documents every field; keep the two in the same order.

import type { Layout } from './layouts';

/** A number that may be missing: null stands for NaN and for infinities. */
export type Num = number | null;

/** The coordinates of an element in the chart of its group: angles in degrees, shifts in pixels, scales as factors. */
export type Element = readonly number[];

export interface Runs {
  version: string;
  runs: RunCard[];
  audits: Audit[];
  problems: Broken[];
}

export interface RunCard {
  id: string;
  name: string;
  digest: string;
  group: string;
  task: string;
  models: string[];
  metrics: string[];
  samples: number;
  elements: number;
  state: State;
}

export interface Broken {
  name: string;
  detail: string;
  remedy?: string;
}

export interface State {
  complete: boolean;
  done: number;
  total: number;
  running: boolean;
  seconds: Num;
}

/** One coordinate of a chart. A bound of null is infinite. */
export interface Axis {
  name: string;
  unit: string;
  /** What the coordinate does; without one it is a number. */
  kind?: { name: string; form: string };
  min: Num;
  max: Num;
  periodic: boolean;
}

export interface Group {
  name: string;
  title: string;
  chart: Axis[];
  steps: Num[];
  layout: Layout;
  elements: Element[];
  labels: string[];
  exact: boolean[];
  identity: number;
  measure: string;
  weights: number[];
  finite: boolean;
  moves: Move[];
  indexed: boolean;
  kinds: string[];
}

export interface Move {
  name: string;
  short: string;
  element: Element;
  to: number[];
}

export interface Model {
  name: string;
  sha256: string;
  run: string;
  parameters: number;
  scale: Num;
  live: boolean;
}

export interface Metric {
  name: string;
  doc: string;
  unit?: string;
  better: 'higher' | 'lower';
  ref: string;
  range: [Num, Num];
  pooled?: boolean;
  title: string;
  wide: boolean;
}

export interface Run extends RunCard {
  orbit: Group;
  model_list: Model[];
  metric_list: Metric[];
  classes: string[];
  labelled: boolean;
  output: string;
  failed: number;
  live: Live;
  methods: Method[];
  arrays: ArrayInfo[];
  slices: Slice[];
  audits: string[];
  kernel: string;
  engine: string;
  command: string;
  notes: string[];
  scales: Range[];
  details: Circumstance[];
  window: number[];
  boxed: boolean;
  input: string;
  inputs: Port[];
  outputs: Port[];
  weak: number;
}

/** A field of the inputs or outputs of the models. */
export interface Port {
  name: string;
  kind?: string;
  type?: string;
  per?: string;
  unit?: string;
}

export interface Circumstance {
  name: string;
  value: string;
}

export interface Range {
  lo: Num;
  hi: Num;
  log: boolean;
}

export interface Live {
  inputs: boolean;
  models: boolean;
  reason?: string;
  engine?: string;
}

export interface Method {
  name: string;
  title: string;
  doc: string;
  slow: boolean;
}

/** api.Array: curves.M.K, top.M and samples.M.K by the indexes of model and metric. */
export interface ArrayInfo {
  name: string;
  shape: number[];
  bytes: number;
}

export interface Samples {
  ids: string[];
  labels: number[];
  tags?: string[][];
  errors?: Record<string, string>;
  done: number;
}

export interface Sample {
  index: number;
  id: string;
  label: number;
  tags?: string[];
  error?: string;
  done: boolean;
  curves: Num[][][];
  top?: number[][];
  support?: Num[];
  agreement?: Num[];
  replay?: string;
}

/** A box in pixels from the outer edges of its picture: x to the right, y down; the angle in degrees, counter-clockwise. */
export interface Box {
  x1: Num;
  y1: Num;
  x2: Num;
  y2: Num;
  angle: Num;
  score: Num;
  label: number;
}

export interface ModelBoxes {
  model: number;
  boxes: Box[];
}

export interface Boxes {
  index: number;
  element: number;
  g: Element;
  width: number;
  height: number;
  models: ModelBoxes[];
  target?: Box[];
}

/** Chooses samples: exactly one field is set, or none for all of them. */
export interface Set {
  label?: number;
  rule?: string;
  metric?: number;
  indexes?: number[];
  bits?: string;
  slice?: string;
  and?: Set[];
  or?: Set[];
  not?: Set;
}

export interface Slice {
  name: string;
  label: number;
  n: number;
  set: Set;
  note?: string;
}

export interface Slices {
  format: number;
  slices: Slice[];
}

export interface Selected {
  n: number;
  bits: string;
}

export interface AggregateRequest {
  set: Set;
  metric: number;
  models?: number[];
  pair?: [number, number];
}

export interface Aggregate {
  n: number;
  confidence: number;
  curves: Curve[];
  pair?: Pair;
}

/** fold.Estimate: a mean over samples with its interval. */
export interface Estimate {
  n: number;
  mean: Num;
  sd: Num;
  lo: Num;
  hi: Num;
}

/** fold.Curve: every list has one entry per element of the orbit. */
export interface Curve {
  model: number;
  metric: number;
  slice: number;
  n: number[];
  bad: number[];
  mean: Num[];
  sd: Num[];
  lo: Num[];
  hi: Num[];
  p10: Num[];
  p90: Num[];
  min: Num[];
  max: Num[];
  orbit: Estimate;
  worst: Estimate;
  change: Estimate;
  worst_element: number;
  worst_sample: string;
  worst_at: number;
  worst_value: Num;
  first_bad?: string;
  bad_at: number;
}

export interface Pair {
  a: number;
  b: number;
  n: number[];
  mean: Num[];
  lo: Num[];
  hi: Num[];
  p10: Num[];
  p90: Num[];
  orbit: Estimate;
  verdict: string;
}

export interface Audit {
  id: string;
  name: string;
  verdict: string;
  models: string[];
  runs: string[];
}

export interface Findings {
  audit: Audit;
  document: unknown;
  places: Place[];
}

export interface Place {
  sample: string;
  element: Element;
  model: string;
  model_index: number;
  run: string;
  index: number;
}

export interface Task {
  id: string;
  kind: string;
  run: string;
  title: string;
  fraction: number;
  seconds: Num;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  error?: string;
}

export interface Event {
  task?: Task;
  run?: RunCard;
  slices?: string;
  gone?: string;
  list?: boolean;
}

/** The body of an error, application/problem+json. */
export interface Problem {
  status: number;
  code: string;
  title: string;
  detail: string;
  remedy?: string;
}
