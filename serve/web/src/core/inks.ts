// Which colour, dash and mark a model has where several are shown: one rule for every plot, legend and table.

/** Most models that are shown at once. */
export const mostShown = 8;

/** Where a model stands among those that are shown: A is 0, B is 1. */
export type Nth = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The letters of the models that are shown, in their order. */
export const letters = 'ABCDEFGH';

/** A colour, a dash and a mark: 0 and 1 are those of A and B, 2 is what is no model, such as B − A, and 3 on are C and further. */
export type Ink = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** The ink of a model by its place among those that are shown. */
export const inkOf = (k: number): Ink => (k < 2 ? k : k + 1) as Ink;

/** The place of a model by its ink; -1 for what is no model. */
export const nthOf = (ink: Ink): Nth | -1 => (ink === 2 ? -1 : ((ink < 2 ? ink : ink - 1) as Nth));
