// What the page of the questionnaire does with answers: which are kept, and how they stand in the address. The questions are the server's.

import type { Identified, Question } from '../core/api';

/** The answer to a question without the mark of a guess, and whether it is one. */
export function split(text: string | undefined): { word: string; guess: boolean } {
  const t = (text ?? '').trim();
  return { word: t.replace(/\s*\?+$/, ''), guess: t.endsWith('?') };
}

/** An answer with the mark of a guess where it is one. What is not known is no guess. */
export const join = (word: string, guess: boolean): string => (word && word !== 'unknown' && guess ? `${word}?` : word);

/** What was answered before, with an answer that is new; those to questions that do not arise any more are kept, for they may arise again. */
export function answered(now: Readonly<Record<string, string>>, id: string, text: string): Record<string, string> {
  const next = { ...now, [id]: text };
  if (!text) delete next[id];
  return next;
}

/** What is in an address beside answers. */
const others = new Set(['model_file', 'data_file']);

/** The answers in what is chosen on the page. */
export const answersOf = (detail: Readonly<Record<string, string>>): Record<string, string> => Object.fromEntries(Object.entries(detail).filter(([k, v]) => !others.has(k) && v));

/** How many of the questions are answered. */
export const progress = (all: readonly Question[], answers: Readonly<Record<string, string>>): { done: number; of: number } => ({ done: all.filter((q) => split(answers[q.id]).word !== '').length, of: all.length });

/** How sure a factor is, as a sign and a kind. */
export const sureness = (word: string): { sign: string; kind: string } => ({ sure: { sign: '✓', kind: 'pass' }, likely: { sign: '≈', kind: 'attention' } })[word] ?? { sign: '?', kind: 'none' };

/** The file that is shown: the one that was chosen, else the first study, else the first. */
export function fileOf(files: Identified['files'], name: string): Identified['files'][number] | null {
  return files.find((f) => f.file === name) ?? files.find((f) => f.file === 'study.yaml') ?? files[0] ?? null;
}
