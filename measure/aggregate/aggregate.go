// Package aggregate holds mergeable summaries and the statistics that are inferred from them. It is pure arithmetic
// over numbers and knows neither models nor groups.
//
// Two rules hold everywhere. A NaN is never averaged away: summaries count it beside the numbers, and inference says
// how many values it had to leave out. And a summary of parts equals the summary of the whole: to the last bit for
// counts, extremes and sketches, to rounding for means and variances, which are therefore folded in a fixed order.
package aggregate
