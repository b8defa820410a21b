// Package aggregate holds mergeable summaries. It is pure arithmetic over numbers and knows neither models nor groups.
package aggregate
