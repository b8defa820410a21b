// Package app is everything that the program can do, for the command line, for servers and for other Go programs.
//
// # What is asked
//
// The program says how a model responds when its input moves along an orbit of a group. One such question is a study,
// [job.Study]: the models, the data, the group with the elements of the orbit, what the output should do, and how
// strictly it is judged. [App.OpenStudy] reads one from a file; a program can as well fill in the fields, as the flags
// of the command line do, and call [App.Validate]. Paths in a study are relative to the working directory once it was
// opened. Where a study leaves something open, methods fill it in.
//
// # Who answers
//
// An [App] holds what the program takes from outside: the clock, where engines lie, who is told what happens. The zero
// App works. Nothing is kept between calls, so one App can serve many.
//
// # How a model responds, and whether that is right
//
// [App.Run] measures the whole orbit of every sample and keeps every curve in a run folder, which can be shown, cut
// into slices and exported afterwards. It describes and does not judge. A run that was stopped goes on when the same
// study is run into the same folder.
//
// [App.Audit] judges: it holds every error against what rounding, repeats and resampling alone would do, looks for
// where it comes from, and ends with a verdict for each model. [AuditResult.Outcome] sums them up; [AuditResult.Write]
// and [AuditResult.Save] write them in the formats of [AuditFormats].
//
// # Looking closer
//
//   - [App.Replay] measures one sample at one element again, with inputs and outputs.
//   - [App.Compare] says what became of a model between two audits, or two runs.
//   - [App.Inspect] reads a model without running it.
//   - [App.Bench] measures what a run costs beyond the engine alone.
//
// # Showing
//
//   - [App.Serve] shows runs and audits in a browser, [App.Page] writes the same interface into one HTML file.
//   - [App.Report] writes a run as a page in Markdown with pictures.
//   - [App.Export] writes a table of a run as CSV, JSON Lines, Markdown or LaTeX.
//   - [App.Demo] does all of it with a study that the program carries.
//
// [App.Groups], [App.Metrics], [App.Checks], [DemoNames] and [App.ChooseEngine] say what there is.
//
// # Events and errors
//
// What a person wants to know while work goes on is told to [App.Events]; no result depends on it. An error says what
// is wrong, where, and what to do. Where that is an option it is named as the command line spells it, which is where
// most people look: --allow-regression is [Baseline.Allow]. A finding about a model is never an error: errors say that
// a question could not be answered.
package app
