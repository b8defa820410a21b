// The document of an audit. Mirrors audit/document, which documents every field.

import type * as api from './api';

type Num = api.Num;

export type Verdict = 'PASS' | 'FAIL' | 'NEEDS_ATTENTION' | 'COULD_NOT_RUN';
export type Severity = 'high' | 'medium' | 'low' | 'note';

export interface Document {
  format: number;
  verdict: Verdict;
  models: Model[];
}

export interface Model {
  model: string;
  verdict: Verdict;
  error?: string;
  reasons: string[];
  answers: string[];
  claim: { group: string; elements: number; added_exact_elements: number; measure: string; inputs: number; output: string; scale: Num; seed: number };
  policy: { preset: string; threshold: Num; origin: string; confidence: Num; failure_rate: Num };
  checks: Check[];
  not_part_of_this_audit: string[];
  about: Fact[];
  questions: { question: string; answers: string[] }[];
  diagnoses: Diagnosis[];
  recommendations: { do: string; why: string; verify?: string }[];
  worst_cases: { what: string; where: Where; value: Num; replay?: string }[];
  certificate: string[];
  caveats: string[];
  command?: string;
}

export interface Fact {
  name: string;
  value: string;
}

export interface Where {
  sample: string;
  element: string;
  coordinates?: Num[];
}

export interface Evidence {
  name: string;
  value: Num;
  text: string;
  lo?: Num;
  hi?: Num;
  limit?: Num;
  unit?: string;
}

export interface Clue {
  name: string;
  holds: boolean;
  text: string;
  check: string;
  location?: string;
}

export interface Diagnosis {
  id: string;
  cause: string;
  confidence: Num;
  location?: string;
  for: Clue[];
  against: Clue[];
  would_decide: string[];
  fix: string;
  verify: string;
}

export interface Finding {
  id: string;
  category: string;
  title?: string;
  severity: Severity;
  set?: string;
  message: string;
  location: string;
  evidence: Evidence[];
  worst?: Where;
  remedies: string[];
  replay?: string;
}

export interface Check {
  check: string;
  summary: string;
  status: 'tested' | 'not tested' | 'not applicable';
  reason?: string;
  required: boolean;
  verdict?: Verdict;
  measures: Evidence[];
  sets: Set[];
  findings: Finding[];
  exhibits: Exhibit[];
}

export interface Set {
  name: string;
  exact: boolean;
  verdict: Verdict;
  reason: string;
  level: string;
  cause: string;
  statement: string;
  rounding_floor: Num;
  elimination: { name: string; text: string; is_the_cause: boolean }[];
  profile: Point[];
}

export interface Point {
  element: string;
  coordinates: Num[];
  exact: boolean;
  n: number;
  non_finite: number;
  mean: Num;
  p95: Num;
  max: Num;
  resampling_floor: Num;
  state: string;
}

// Things to look at: tables, curves and maps.

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

/** The document, or why it is none that this page can read. */
export function read(doc: unknown): Document | string {
  const d = doc as Partial<Document> | null;
  if (!d || typeof d !== 'object' || !Array.isArray(d.models)) return 'This audit is not a document that nero wrote.';
  if (typeof d.format !== 'number' || d.format > 1) return `This audit has format ${String(d.format)}; this page knows format 1. Open it with a newer nero.`;
  return d as Document;
}
