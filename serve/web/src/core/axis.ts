// What the coordinates of a chart do, told by the kinds of its axes and never by their names. Pure functions.

import type { Axis } from './api';

/** How the numbers of an axis behave: angle, factor, pixels, switch and others; a number without a kind. */
export const form = (a: Axis): string => a.kind?.form ?? 'number';

/** An axis that is a switch, such as mirror: 0 or 1. */
export const isSwitch = (a: Axis): boolean => form(a) === 'switch';

/** An axis whose numbers multiply. */
export const isFactor = (a: Axis): boolean => form(a) === 'factor';

/** An axis in degrees. */
export const isAngle = (a: Axis): boolean => form(a) === 'angle';

/** The period of an axis, 0 if it has none. */
export const period = (a: Axis): number => (a.periodic && a.min !== null && a.max !== null ? a.max - a.min : 0);

/** An angle that goes all the way round. */
export const isCircle = (a: Axis): boolean => isAngle(a) && period(a) === 360;

/** The first axis of a kind, -1 if a chart has none. */
export const firstOf = (chart: readonly Axis[], ...kinds: string[]): number => chart.findIndex((a) => a.kind !== undefined && kinds.includes(a.kind.name));

/** An axis with its unit, for a label beside it. */
export const axisLabel = (a: Axis): string =>
  isAngle(a) ? `${a.name} in °` : isFactor(a) ? `${a.name} (factor)` : a.unit ? `${a.name} in ${a.unit}` : a.name;
