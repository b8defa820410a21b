// Package api holds what the server and the interface say to each other: the JSON documents of version 1, as plain
// data. It opens nothing and computes nothing.
//
// Numbers that may be missing are [fold.Number]: null stands for NaN and for infinities. Indexes count from 0. An
// element of the group is its coordinates in the chart of [Group], angles in degrees, shifts in pixels, scales as
// factors.
//
// Arrays travel in the safetensors container: eight bytes little-endian header length, a JSON header that gives every
// tensor its dtype, shape and data_offsets, then the data, little-endian. Texts about the arrays are in the header's
// __metadata__.
package api

import (
	"encoding/json"

	"nero/identify"
	"nero/run/fold"
	"nero/symmetry/group"
)

// Version is the number in the path of every call: api/v1/.
const Version = 1

// Runs is the answer to GET runs: what the server was told to show.
type Runs struct {
	// of the program
	Version string    `json:"version"`
	Runs    []RunCard `json:"runs"`
	// every audit found, also those that belong to no run
	Audits []Audit `json:"audits"`
	// every sheet found: what the commands left behind that make neither runs nor audits
	Sheets []Sheet `json:"sheets"`
	// Planned are audits that are being computed by many processes and are not made yet.
	Planned []Planned `json:"planned"`
	// what could not be opened; the others are shown all the same
	Problems []Broken `json:"problems"`
}

// Planned is an audit that is planned and not made yet: it is among the audits as soon as it is.
type Planned struct {
	// Name is what the audit will be called, Folder where it lies, from the folder that the server was given.
	Name   string   `json:"name"`
	Folder string   `json:"folder"`
	Models []string `json:"models"`
	// of the sweep: how many shards and samples there are, and how many of them are kept
	Shards  int `json:"shards"`
	Kept    int `json:"kept"`
	Samples int `json:"samples"`
	Done    int `json:"done"`
	// Says is how far it is in one sentence, with rate and time left as far as can be told.
	Says string `json:"says"`
	// Commands are what people can type next to have it made, in this order.
	Commands []string `json:"commands"`
}

// RunCard is a run in a list.
type RunCard struct {
	// stable while the server lives; letters, digits, '-', '_', '.'; "A+B" is two runs over the samples that both have
	ID string `json:"id"`
	// what people call it: on the page, in the study, else its folder
	Name string `json:"name"`
	// Folder is where it lies, from the folder that the server was given: "nero-demo/run".
	Folder string `json:"folder"`
	// Begun and Changed are when it was begun and when it was complete, or last had more rows, in milliseconds since
	// 1970, as the dates of its files tell; 0 where they do not.
	Begun   int64  `json:"begun"`
	Changed int64  `json:"changed"`
	Digest  string `json:"digest"`
	// what it shows, in the words of its study
	About    string   `json:"about,omitempty"`
	Group    string   `json:"group"`
	Task     string   `json:"task"`
	Models   []string `json:"models"`
	Metrics  []string `json:"metrics"`
	Samples  int      `json:"samples"`
	Elements int      `json:"elements"`
	State    State    `json:"state"`
}

// Broken is something that could not be opened.
type Broken struct {
	// of the folder or file, without the path
	Name   string `json:"name"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// State is how far a run is.
type State struct {
	Complete bool `json:"complete"`
	// samples whose rows are stored
	Done int `json:"done"`
	// samples of the job
	Total int `json:"total"`
	// somebody is computing it: this server, or another program
	Running bool `json:"running"`
	// By is the other program that is computing it, as far as it says: "nero demo"; "another program" if it does not.
	// Empty if it is this server, or nobody.
	By string `json:"by,omitempty"`
	// Todo are the shards that are not kept, as nero shard takes them: "0-4,7"; empty where all are, or there are too
	// many to say.
	Todo string `json:"todo,omitempty"`
	// Seconds is the time left as far as can be told, null otherwise.
	Seconds fold.Number `json:"seconds"`
	// Rate is evaluations per second, null where nobody tells.
	Rate fold.Number `json:"rate"`
}

// Group is the group of a run and the plan of its orbit.
type Group struct {
	Name string `json:"name"`
	// for people: "rotations, 72 angles"
	Title string `json:"title"`
	// one axis per coordinate
	Chart []group.Axis `json:"chart"`
	// smallest step per axis: 1 for a switch or whole pixels, 0 for any value
	Steps []fold.Number `json:"steps"`
	// polar, line, heatmap, scatter, strip, tiles, discs, angle, ranked, axes: how the orbit is laid out
	Layout   string          `json:"layout"`
	Elements []group.Element `json:"elements"`
	// the elements for people
	Labels []string `json:"labels"`
	// acts without resampling
	Exact []bool `json:"exact"`
	// index of the identity, -1 if the plan does not visit it
	Identity int `json:"identity"`
	// what a mean over the orbit is over
	Measure string `json:"measure"`
	// of that mean, one per element; empty for equal ones
	Weights []float64 `json:"weights"`
	// the elements are the whole group: there is nothing between them
	Finite bool `json:"finite"`
	// generators, for buttons
	Moves []Move `json:"moves"`
	// Indexed says that elements have too many coordinates to be sent, as permutations of a thousand rows: everywhere
	// in this API an element is its place in the plan, and the chart has that as its only axis.
	Indexed bool `json:"indexed"`
	// Kinds says what sort of element each is, where there are several: transposition, cycle, permutation; proper,
	// improper. Empty otherwise.
	Kinds []string `json:"kinds"`
}

// Move is one element that acts on where one is: h to g·h.
type Move struct {
	// "turn left 90°"
	Name string `json:"name"`
	// for a button: "+90°"
	Short   string        `json:"short"`
	Element group.Element `json:"element"`
	// To is the index of the element g·h for every element h of the plan, -1 where the plan does not have it.
	To []int `json:"to"`
}

// Model is a model of a run.
type Model struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// id of the run that it comes from, which differs in "A+B"
	Run string `json:"run"`
	// 0 if not known
	Parameters int64 `json:"parameters"`
	// centred scale of its output
	Scale fold.Number `json:"scale"`
	// can be asked now
	Live bool `json:"live"`
}

// Metric is a metric of a run.
type Metric struct {
	fold.Metric

	// every value is 0 or 1: means are proportions
	Binary bool `json:"binary,omitempty"`
	// for people
	Title string `json:"title"`
	// values differ by orders of magnitude: a logarithmic scale
	Wide bool `json:"wide"`
}

// Run is the answer to GET runs/{id}: everything but the numbers of the samples.
type Run struct {
	RunCard

	Orbit     Group    `json:"orbit"`
	ModelList []Model  `json:"model_list"`
	MetricDoc []Metric `json:"metric_list"`
	// names; empty if the output has none
	Classes  []string `json:"classes"`
	Labelled bool     `json:"labelled"`
	// space of the output: scores, mask, image, tensor
	Output string `json:"output"`
	// samples that could not be evaluated
	Failed int  `json:"failed"`
	Live   Live `json:"live"`
	// ways to lay out the samples by the shape of their orbit
	Methods []Method `json:"methods"`
	Arrays  []Array  `json:"arrays"`
	// every class; those that were named are in GET slices
	Slices []Slice `json:"slices"`
	// ids
	Audits []string `json:"audits"`
	// resampler in words
	Kernel string `json:"kernel"`
	// that evaluated the run
	Engine  string `json:"engine"`
	Command string `json:"command"`
	// Audit is the command that audits the run's models on its data; FOLDER stands for where the audit goes.
	Audit string   `json:"audit_command"`
	Notes []string `json:"notes"`
	// Warnings are sentences that stand before anything else: labels that are not numbered as a model numbers its
	// classes.
	Warnings []string `json:"warnings,omitempty"`
	// one per metric: the range of the drawings, shared by all models
	Scales  []Range        `json:"scales"`
	Details []Circumstance `json:"details"`
	// Window is the height and width of the crop window, in pixels; empty if whole samples are moved.
	Window []int `json:"window"`
	// Boxed says that boxes were recorded: GET runs/{id}/samples/{i}/boxes.
	Boxed bool `json:"boxed"`
	// Input is the space of the input: image, volume, frames, rows, signal, record; empty where the study leaves it to
	// the data. Inputs and Outputs are the fields that the study names, with what their numbers are.
	Input   string `json:"input"`
	Inputs  []Port `json:"inputs"`
	Outputs []Port `json:"outputs"`
	// Weak is the share of contributing elements below which a consensus supports no verdict.
	Weak float64 `json:"weak"`
}

// Port is a field of the inputs or outputs of the models.
type Port struct {
	Name string `json:"name"`
	// rows, links, pairs, signal, volume, frames, image, scores; empty for what it is by itself
	Kind string `json:"kind,omitempty"`
	// what its numbers are: positions, vectors, unchanged, irreps such as 4x0e+2x1o
	Type string `json:"type,omitempty"`
	// what a row belongs to: node, edge, sample
	Per  string `json:"per,omitempty"`
	Unit string `json:"unit,omitempty"`
}

// Circumstance is a fact about a run, for people.
type Circumstance struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Range is what a plot shows of a quantity.
type Range struct {
	Lo  fold.Number `json:"lo"`
	Hi  fold.Number `json:"hi"`
	Log bool        `json:"log"`
}

// Live says whether samples can be moved and models asked now, and if not, why.
type Live struct {
	Inputs bool `json:"inputs"`
	// inputs can be seen small: GET runs/{id}/samples/{i}/thumb.png
	Pictures bool   `json:"pictures"`
	Models   bool   `json:"models"`
	Reason   string `json:"reason,omitempty"`
	Engine   string `json:"engine,omitempty"`
}

// Method is a way to lay out the samples in two dimensions.
type Method struct {
	// pca, ica, isomap, tsne, umap
	Name  string `json:"name"`
	Title string `json:"title"`
	Doc   string `json:"doc"`
	// takes more than a second for this run: computed as a task with progress
	Slow bool `json:"slow"`
}

// Array is an array that GET runs/{id}/arrays/{name} serves. In the name stand the indexes of model and metric:
// curves.0.1.
//
//   - curves.M.K: N x E, value of metric K of model M, by sample and element. dtype=u8 quantises linearly over "lo" to
//     "hi" of the metadata into 0 to 254 (255 is NaN); dtype=f32 is exact.
//   - top.M: N x E i32 (u8 if there are at most 255 classes, 255 for none), the predicted class.
//   - samples.M.K: tensors mean, sd, min, max, identity (f32, N) and worst (i32, N, index of the worst element, -1 for
//     none), per sample over the orbit, with weights.
//
// Rows stand in the order of the samples. Rows that are not computed yet, or failed, are NaN (255, -1).
type Array struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	// as f32 or i32
	Bytes int64 `json:"bytes"`
}

// Samples is the answer to GET runs/{id}/samples: the columns of the table that do not depend on a metric.
type Samples struct {
	IDs []string `json:"ids"`
	// -1 without a label
	Labels []int      `json:"labels"`
	Tags   [][]string `json:"tags,omitempty"`
	// by index, why a sample could not be evaluated
	Errors map[string]string `json:"errors,omitempty"`
	Done   int               `json:"done"`
}

// Sample is the answer to GET runs/{id}/samples/{i}: one orbit, exactly.
type Sample struct {
	Index int      `json:"index"`
	ID    string   `json:"id"`
	Label int      `json:"label"`
	Tags  []string `json:"tags,omitempty"`
	Error string   `json:"error,omitempty"`
	// its rows are stored
	Done bool `json:"done"`
	// model x metric x element
	Curves [][][]fold.Number `json:"curves"`
	// model x element: the predicted class
	Top [][]int `json:"top,omitempty"`
	// Support is, by model, the share of the elements that the consensus rests on, and Agreement how well the consensus
	// agrees with the target of the data, by the first metric that is compared with both. Null where there is none;
	// left out in runs without consensus.
	Support   []fold.Number `json:"support,omitempty"`
	Agreement []fold.Number `json:"agreement,omitempty"`
	// Replay is the command that repeats this sample at an element, which stands for ELEMENT.
	Replay string `json:"replay,omitempty"`
}

// Box is one object in a picture, in pixels from its outer edges: x to the right, y down. The pixel of row r and column
// c is the square from (c, r) to (c+1, r+1).
type Box struct {
	X1 fold.Number `json:"x1"`
	Y1 fold.Number `json:"y1"`
	X2 fold.Number `json:"x2"`
	Y2 fold.Number `json:"y2"`
	// degrees, counter-clockwise as displayed, about the centre of the box
	Angle fold.Number `json:"angle"`
	// 0 to 1
	Score fold.Number `json:"score"`
	// class, -1 if there is none
	Label int `json:"label"`
}

// ModelBoxes are the boxes of one model, best first.
type ModelBoxes struct {
	Model int   `json:"model"`
	Boxes []Box `json:"boxes"`
}

// Boxes is the answer to GET runs/{id}/samples/{i}/boxes: what was recorded at an element of the plan, in the frame of
// that element.
type Boxes struct {
	Index   int           `json:"index"`
	Element int           `json:"element"`
	G       group.Element `json:"g"`
	// Width and Height are those of the frame, 0 where it is as large as the sample.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// those whose rows are there
	Models []ModelBoxes `json:"models"`
	// Target is what the data say, moved to the element, the key object first; left out where the data cannot be asked
	// now.
	Target []Box `json:"target,omitempty"`
}

// Set chooses samples: exactly one field is set, or none for all of them.
type Set struct {
	Label *int `json:"label,omitempty"`
	// see SLICES.md
	Rule string `json:"rule,omitempty"`
	// beside Rule: the metric of its statistics; without it that of the request, or the first
	Metric *int `json:"metric,omitempty"`
	// ascending
	Indexes []int `json:"indexes,omitempty"`
	// base64 of a bitset, sample i is bit i%8 of byte i/8
	Bits string `json:"bits,omitempty"`
	// name of a kept slice
	Slice string `json:"slice,omitempty"`
	And   []Set  `json:"and,omitempty"`
	Or    []Set  `json:"or,omitempty"`
	Not   *Set   `json:"not,omitempty"`
}

// Selected is the answer to POST runs/{id}/select: which samples a set chooses.
type Selected struct {
	N int `json:"n"`
	// as in Set
	Bits string `json:"bits"`
}

// Slice is a named set of samples.
type Slice struct {
	Name string `json:"name"`
	// class, -1 for others
	Label int `json:"label"`
	N     int `json:"n"`
	Set   Set `json:"set"`
	// how it was made, for people
	Note string `json:"note,omitempty"`
}

// Slices is the body of GET and PUT runs/{id}/slices. Bits keep a lasso what it was when the layout changes.
type Slices struct {
	// 1
	Format int     `json:"format"`
	Slices []Slice `json:"slices"`
}

// Remarks is the body of GET and PUT runs/{id}/remarks: what people say of a run.
type Remarks struct {
	// 1
	Format int `json:"format"`
	// what the run is called; empty for the name in its study, or that of its folder
	Name string `json:"name"`
	// those of which something is said
	Samples []Remark `json:"samples"`
}

// Remark is what people say of a sample. Its tags are among those of [Samples] too.
type Remark struct {
	// of the sample
	ID   string   `json:"id"`
	Note string   `json:"note,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// AggregateRequest is the body of POST runs/{id}/aggregate.
type AggregateRequest struct {
	Set    Set `json:"set"`
	Metric int `json:"metric"`
	// nil for all
	Models []int `json:"models,omitempty"`
	// Pair asks for the paired difference of two of the models, second less first.
	Pair []int `json:"pair,omitempty"`
}

// Aggregate is the answer: the curves of a set of samples. Slice is 0 in every curve.
type Aggregate struct {
	// samples in the set
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"`
	// one per model
	Curves []fold.Curve `json:"curves"`
	Pair   *Pair        `json:"pair,omitempty"`
	// Says is for each of the models what the run says of it on this set, in a few sentences, by the metrics that are
	// easiest to say; "" where none is.
	Says []string `json:"says,omitempty"`
}

// Pair is a paired difference of two models on the same samples and elements, B less A. Lists have one entry per
// element.
type Pair struct {
	A    int           `json:"a"`
	B    int           `json:"b"`
	N    []int         `json:"n"`
	Mean []fold.Number `json:"mean"`
	Lo   []fold.Number `json:"lo"`
	Hi   []fold.Number `json:"hi"`
	P10  []fold.Number `json:"p10"`
	P90  []fold.Number `json:"p90"`
	// of the mean over the orbit, clustered by sample
	Orbit fold.Estimate `json:"orbit"`
	// Verdict says in words what the interval is evidence of: better, worse, no clear difference.
	Verdict string `json:"verdict"`
}

// TurnsRequest is the body of POST runs/{id}/turns.
type TurnsRequest struct {
	Set   Set `json:"set"`
	Model int `json:"model"`
	// truth: samples are sorted by their label; self: by what the model answers at the identity. Default truth.
	Against string `json:"against,omitempty"`
}

// Samples is the set that is asked about.
func (q *TurnsRequest) Samples() *Set { return &q.Set }

// Turns is the answer: which classes turn into which when samples are moved.
type Turns struct {
	Model   int    `json:"model"`
	Against string `json:"against"`
	// samples in the set
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"`
	// From are the classes that samples belong to, ascending.
	From []TurnsOf `json:"from"`
	// Entries are those that ever occur, the largest share first. What is not listed did not occur, but for Left more.
	Entries []Turn `json:"entries"`
	Left    int    `json:"left"`
}

// TurnsOf is a class that samples belong to.
type TurnsOf struct {
	Class int `json:"class"`
	// samples
	N int `json:"n"`
}

// Turn is how often samples of one class are taken for another, or for itself.
type Turn struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Share is at which share of the elements but the identity, in the mean over samples; Lo and Hi are its interval,
	// clustered by sample.
	Share fold.Number `json:"share"`
	Lo    fold.Number `json:"lo"`
	Hi    fold.Number `json:"hi"`
	// with which it ever happens
	Samples int `json:"samples"`
	// Sample is one with which it happens most, Element the first at which it does.
	Sample  int `json:"sample"`
	Element int `json:"element"`
}

// ModelsRequest is the body of POST runs/{id}/models.
type ModelsRequest struct {
	Set Set `json:"set"`
	// the model that the others are compared with
	Base int `json:"base"`
}

// Samples is the set that is asked about.
func (q *ModelsRequest) Samples() *Set { return &q.Set }

// Models is the answer: every model by every metric.
type Models struct {
	Base int `json:"base"`
	// samples in the set
	N          int        `json:"n"`
	Confidence float64    `json:"confidence"`
	Rows       []ModelRow `json:"rows"`
}

// ModelRow is one model by one metric.
type ModelRow struct {
	Model  int `json:"model"`
	Metric int `json:"metric"`
	// at the identity; left out where the plan does not visit it
	Rest *fold.Estimate `json:"rest,omitempty"`
	// mean over the orbit, clustered by sample
	Orbit fold.Estimate `json:"orbit"`
	// worst of the orbit of each sample
	Worst fold.Estimate `json:"worst"`
	// Difference is that of the means over the orbit, sample by sample, less the base; left out of the base.
	Difference *fold.Estimate `json:"difference,omitempty"`
	// better, worse, no clear difference
	Verdict string `json:"verdict,omitempty"`
}

// SearchRequest is the body of POST runs/{id}/search.
type SearchRequest struct {
	Set    Set `json:"set"`
	Metric int `json:"metric"`
	Model  int `json:"model"`
	// mean: of the metric over the orbit; change: that less the value at the identity. Default mean.
	Of string `json:"of,omitempty"`
}

// Samples is the set that is asked about.
func (q *SearchRequest) Samples() *Set { return &q.Set }

// Search is the answer: slices on which a model is worse than on all other samples, the clearest first.
type Search struct {
	Model  int    `json:"model"`
	Metric int    `json:"metric"`
	Of     string `json:"of"`
	// samples with a value
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"`
	// Tried is how many slices were tried; intervals and probabilities know it.
	Tried int `json:"tried"`
	// samples that a slice has at least
	Least  int          `json:"least"`
	Slices []FoundSlice `json:"slices"`
	Notes  []string     `json:"notes,omitempty"`
}

// FoundSlice is a slice that was found.
type FoundSlice struct {
	// one or two, for people
	Conditions []string    `json:"conditions"`
	Set        Set         `json:"set"`
	N          int         `json:"n"`
	Mean       fold.Number `json:"mean"`
	// mean of all others
	Rest fold.Number `json:"rest"`
	// Gap is by how much it is worse; Lo and Hi are an interval that holds for all slices that were tried at once.
	Gap fold.Number `json:"gap"`
	Lo  fold.Number `json:"lo"`
	Hi  fold.Number `json:"hi"`
	// P is how probable it is that any of those that were tried is as far apart by chance.
	P fold.Number `json:"p"`
}

// Audit is an audit in a list.
type Audit struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Verdict string   `json:"verdict"`
	Models  []string `json:"models"`
	// ids of the runs with the same models
	Runs []string `json:"runs"`
}

// Findings is the answer to GET audits/{id}: the document audit.json as it is, and where its places lie in a run.
type Findings struct {
	Audit    Audit           `json:"audit"`
	Document json.RawMessage `json:"document"`
	// Places are the samples and elements that the document names, as far as a run of this server has them.
	Places []Place `json:"places"`
}

// Sheet is what one of the commands left behind that make neither runs nor audits, in a list.
type Sheet struct {
	ID string `json:"id"`
	// Kind is that of its page: repair, discovery, data, identify, watch, weights, embed, repeat.
	Kind string `json:"kind"`
	// its folder
	Name string `json:"name"`
	// what it is of
	Title string `json:"title"`
	// the answer
	Sentence string `json:"sentence"`
	// names of the models that it is about
	Models []string `json:"models"`
	// Runs and Audits are the ids of those of the same files of models.
	Runs   []string `json:"runs"`
	Audits []string `json:"audits"`
}

// OpenSheet is the answer to GET sheets/{id}: the document that the command wrote, without the folders of its files.
type OpenSheet struct {
	Sheet Sheet `json:"sheet"`
	// Document is repair.json, discovery.json, data.json, watch.json, weights.json, embedding.json or
	// repeat.json, or what follows from answers.yaml.
	Document json.RawMessage `json:"document"`
	// Audits are the ids of the audits that lie beside it, by the folder that the document names.
	Audits map[string]string `json:"audits"`
}

// IdentifyRequest is the body of POST identify: answers to some of the questions.
type IdentifyRequest struct {
	// Answers are names of choices, or texts, by the id of the question; a question mark behind one says that it is a
	// guess.
	Answers identify.Answers `json:"answers"`
	// Model and Data stand in the studies; empty for names to fill in.
	Model string `json:"model,omitempty"`
	Data  string `json:"data,omitempty"`
	// Seed stands in the studies.
	Seed uint64 `json:"seed,omitempty"`
}

// Identified is the answer to POST identify: which questions arise, and what follows from what was answered.
type Identified struct {
	// those that arise after the answers, in their order
	Questions []identify.Question `json:"questions"`
	// why an answer cannot be read, by the id of its question
	Wrong map[string]string `json:"wrong"`
	// left out until it is said what a sample is
	Result *identify.Result `json:"result,omitempty"`
	// Files are what to keep: the studies, the answers and symmetry.md.
	Files []identify.Study `json:"files"`
}

// Place is a sample at an element in a run.
type Place struct {
	// id, as the document says it
	Sample  string        `json:"sample"`
	Element group.Element `json:"element"`
	// as the document says it
	Model string `json:"model"`
	// of the same file among the models of the run
	ModelIndex int `json:"model_index"`
	// id
	Run string `json:"run"`
	// of the sample in the run
	Index int `json:"index"`
}

// Task is work that the server does in the background: an embedding, or a run that goes on.
type Task struct {
	ID string `json:"id"`
	// embedding, run
	Kind  string `json:"kind"`
	Run   string `json:"run"`
	Title string `json:"title"`
	// 0 to 1
	Fraction float64 `json:"fraction"`
	// left
	Seconds fold.Number `json:"seconds"`
	// waiting, running, done, failed, cancelled
	State string `json:"state"`
	Error string `json:"error,omitempty"`
}

// Event is what GET events sends, one per message: exactly one field is set.
type Event struct {
	Task *Task `json:"task,omitempty"`
	// a run has more rows, or is complete
	Run *RunCard `json:"run,omitempty"`
	// id of a run whose slices changed
	Slices string `json:"slices,omitempty"`
	// id of a run of which somebody said something else: its name, notes or tags of its samples
	Remarks string `json:"remarks,omitempty"`
	// id of a run that is not there any more
	Gone string `json:"gone,omitempty"`
	// runs or audits came or went: GET runs says which
	List bool `json:"list,omitempty"`
	// Planned are all planned audits, where one of them is further.
	Planned []Planned `json:"planned,omitempty"`
}
