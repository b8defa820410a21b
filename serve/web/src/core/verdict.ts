// The words with which reports judge, one meaning each on every page.

type Sign = readonly [sign: string, kind: 'pass' | 'fail' | 'attention' | 'none'];

const words: Readonly<Record<Sign[1], readonly string[]>> = {
  pass: [
    'PASS', 'same', 'kept', 'ok', 'improved', 'learned', 'stay', 'compatible', 'holds', 'same file', 'same up to symmetries', 'same function, other weights',
    'symmetric', 'stable', 'alike', 'safe',
  ],
  fail: ['FAIL', 'differs', 'broken', 'alarm', 'lost', 'empty', 'collapsed', 'not finite', 'worse', 'refuted', 'different', 'posed', 'unsafe'],
  attention: ['NEEDS_ATTENTION', 'open', 'undecided', 'untested', 'not told apart', 'approximate', 'unclear'],
  none: ['move'], // that features move is neither good nor bad
};

const signs: Readonly<Record<string, string>> = { pass: '✓', fail: '✗', open: '?', undecided: '?', untested: '?', 'not told apart': '?', unclear: '?', empty: '∅', attention: '!', move: '→' };

/** The sign of a word, which needs no colour, and of which kind it is; "–" for a word that judges nothing. */
export function signOf(word: string): Sign {
  for (const kind of ['pass', 'fail', 'attention', 'none'] as const) {
    if (words[kind].includes(word)) return [signs[word] ?? signs[kind] ?? '–', kind];
  }
  return ['–', 'none'];
}
