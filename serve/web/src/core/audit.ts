// The document of an audit, whose types are generated from Go.

import type { Audit as Document } from './document';

export type * from './document';
export type { Document };

/** The document, or why it is none that this page can read. */
export function read(doc: unknown): Document | string {
  const d = doc as Partial<Document> | null;
  if (!d || typeof d !== 'object' || !Array.isArray(d.models)) return 'This audit is not a document that nero wrote.';
  if (typeof d.format !== 'number' || d.format > 1) return `This audit has format ${String(d.format)}; this page knows format 1. Open it with a newer nero.`;
  return d as Document;
}
