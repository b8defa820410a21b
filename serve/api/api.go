// Package api holds what the server and the interface say to each other: the JSON documents of version 1, as plain data. It opens
// nothing and computes nothing.
//
// Numbers that may be missing are [fold.Number]: null stands for NaN and for infinities. Indexes count from 0. An element of the group is
// its coordinates in the chart of [Group], angles in degrees, shifts in pixels, scales as factors.
//
// Arrays travel in the safetensors container: eight bytes little-endian header length, a JSON header that gives every tensor its
// dtype, shape and data_offsets, then the data, little-endian. Texts about the arrays are in the header's __metadata__.
package api

import (
	"encoding/json"

	"nero/run/fold"
	"nero/symmetry/group"
)

// Version is the number in the path of every call: api/v1/.
const Version = 1

// Runs is the answer to GET runs: what the server was told to show.
type Runs struct {
	Version  string    `json:"version"` // of the program
	Runs     []RunCard `json:"runs"`
	Audits   []Audit   `json:"audits"`   // every audit found, also those that belong to no run
	Problems []Broken  `json:"problems"` // what could not be opened; the others are shown all the same
}

// RunCard is a run in a list.
type RunCard struct {
	ID       string   `json:"id"`   // stable while the server lives; letters, digits, '-', '_', '.'; "A+B" is two runs over the samples that both have
	Name     string   `json:"name"` // of its folder, without the path
	Digest   string   `json:"digest"`
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
	Name   string `json:"name"` // of the folder or file, without the path
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// State is how far a run is.
type State struct {
	Complete bool `json:"complete"`
	Done     int  `json:"done"`    // samples whose rows are stored
	Total    int  `json:"total"`   // samples of the job
	Running  bool `json:"running"` // this server is computing it
	// Seconds is the time left as far as can be told, null otherwise.
	Seconds fold.Number `json:"seconds"`
}

// Group is the group of a run and the plan of its orbit.
type Group struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`  // for people: "rotations, 72 angles"
	Chart    []group.Axis    `json:"chart"`  // one axis per coordinate
	Steps    []fold.Number   `json:"steps"`  // smallest step per axis: 1 for a switch or whole pixels, 0 for any value
	Layout   string          `json:"layout"` // polar, line, heatmap, scatter, strip, tiles, discs, angle, ranked, axes: how the orbit is laid out
	Elements []group.Element `json:"elements"`
	Labels   []string        `json:"labels"`   // the elements for people
	Exact    []bool          `json:"exact"`    // acts without resampling
	Identity int             `json:"identity"` // index of the identity, -1 if the plan does not visit it
	Measure  string          `json:"measure"`  // what a mean over the orbit is over
	Weights  []float64       `json:"weights"`  // of that mean, one per element; empty for equal ones
	Finite   bool            `json:"finite"`   // the elements are the whole group: there is nothing between them
	Moves    []Move          `json:"moves"`    // generators, for buttons
	// Indexed says that elements have too many coordinates to be sent, as permutations of a thousand rows: everywhere in this API an element is its place in the
	// plan, and the chart has that as its only axis.
	Indexed bool `json:"indexed"`
	// Kinds says what sort of element each is, where there are several: transposition, cycle, permutation; proper, improper. Empty otherwise.
	Kinds []string `json:"kinds"`
}

// Move is one element that acts on where one is: h to g·h.
type Move struct {
	Name    string        `json:"name"`  // "turn left 90°"
	Short   string        `json:"short"` // for a button: "+90°"
	Element group.Element `json:"element"`
	// To is the index of the element g·h for every element h of the plan, -1 where the plan does not have it.
	To []int `json:"to"`
}

// Model is a model of a run.
type Model struct {
	Name       string      `json:"name"`
	SHA256     string      `json:"sha256"`
	Run        string      `json:"run"`        // id of the run that it comes from, which differs in "A+B"
	Parameters int64       `json:"parameters"` // 0 if not known
	Scale      fold.Number `json:"scale"`      // centred scale of its output
	Live       bool        `json:"live"`       // can be asked now
}

// Metric is a metric of a run.
type Metric struct {
	fold.Metric

	Title string `json:"title"` // for people
	Wide  bool   `json:"wide"`  // values differ by orders of magnitude: a logarithmic scale
}

// Run is the answer to GET runs/{id}: everything but the numbers of the samples.
type Run struct {
	RunCard

	Orbit     Group          `json:"orbit"`
	ModelList []Model        `json:"model_list"`
	MetricDoc []Metric       `json:"metric_list"`
	Classes   []string       `json:"classes"` // names; empty if the output has none
	Labelled  bool           `json:"labelled"`
	Output    string         `json:"output"` // space of the output: scores, mask, image, tensor
	Failed    int            `json:"failed"` // samples that could not be evaluated
	Live      Live           `json:"live"`
	Methods   []Method       `json:"methods"` // ways to lay out the samples by the shape of their orbit
	Arrays    []Array        `json:"arrays"`
	Slices    []Slice        `json:"slices"` // every class; those that were named are in GET slices
	Audits    []string       `json:"audits"` // ids
	Kernel    string         `json:"kernel"` // resampler in words
	Engine    string         `json:"engine"` // that evaluated the run
	Command   string         `json:"command"`
	Notes     []string       `json:"notes"`
	Scales    []Range        `json:"scales"` // one per metric: the range of the drawings, shared by all models
	Details   []Circumstance `json:"details"`
	// Window is the height and width of the crop window, in pixels; empty if whole samples are moved.
	Window []int `json:"window"`
	// Boxed says that boxes were recorded: GET runs/{id}/samples/{i}/boxes.
	Boxed bool `json:"boxed"`
	// Input is the space of the input: image, frames, rows, signal, record; empty where the study leaves it to the data. Inputs and Outputs are the fields
	// that the study names, with what their numbers are.
	Input   string `json:"input"`
	Inputs  []Port `json:"inputs"`
	Outputs []Port `json:"outputs"`
	// Weak is the share of contributing elements below which a consensus supports no verdict.
	Weak float64 `json:"weak"`
}

// Port is a field of the inputs or outputs of the models.
type Port struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"` // rows, links, pairs, signal, frames, image, scores; empty for what it is by itself
	Type string `json:"type,omitempty"` // what its numbers are: positions, vectors, unchanged, irreps such as 4x0e+2x1o
	Per  string `json:"per,omitempty"`  // what a row belongs to: node, edge, sample
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
	Inputs bool   `json:"inputs"`
	Models bool   `json:"models"`
	Reason string `json:"reason,omitempty"`
	Engine string `json:"engine,omitempty"`
}

// Method is a way to lay out the samples in two dimensions.
type Method struct {
	Name  string `json:"name"` // pca, ica, isomap, tsne, umap
	Title string `json:"title"`
	Doc   string `json:"doc"`
	Slow  bool   `json:"slow"` // takes more than a second for this run: computed as a task with progress
}

// Array is an array that GET runs/{id}/arrays/{name} serves. In the name stand the indexes of model and metric: curves.0.1.
//
//   - curves.M.K: N x E, value of metric K of model M, by sample and element. dtype=u8 quantises linearly over "lo" to "hi" of the metadata into
//     0 to 254 (255 is NaN); dtype=f32 is exact.
//   - top.M: N x E i32 (u8 if there are at most 255 classes, 255 for none), the predicted class.
//   - samples.M.K: tensors mean, sd, min, max, identity (f32, N) and worst (i32, N, index of the worst element, -1 for none), per sample over the orbit, with weights.
//
// Rows stand in the order of the samples. Rows that are not computed yet, or failed, are NaN (255, -1).
type Array struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"` // as f32 or i32
}

// Samples is the answer to GET runs/{id}/samples: the columns of the table that do not depend on a metric.
type Samples struct {
	IDs    []string          `json:"ids"`
	Labels []int             `json:"labels"` // -1 without a label
	Tags   [][]string        `json:"tags,omitempty"`
	Errors map[string]string `json:"errors,omitempty"` // by index, why a sample could not be evaluated
	Done   int               `json:"done"`
}

// Sample is the answer to GET runs/{id}/samples/{i}: one orbit, exactly.
type Sample struct {
	Index  int               `json:"index"`
	ID     string            `json:"id"`
	Label  int               `json:"label"`
	Tags   []string          `json:"tags,omitempty"`
	Error  string            `json:"error,omitempty"`
	Done   bool              `json:"done"`          // its rows are stored
	Curves [][][]fold.Number `json:"curves"`        // model x metric x element
	Top    [][]int           `json:"top,omitempty"` // model x element: the predicted class
	// Support is, by model, the share of the elements that the consensus rests on, and Agreement how well the consensus agrees with the target of the
	// data, by the first metric that is compared with both. Null where there is none; left out in runs without consensus.
	Support   []fold.Number `json:"support,omitempty"`
	Agreement []fold.Number `json:"agreement,omitempty"`
	// Replay is the command that repeats this sample at an element, which stands for ELEMENT.
	Replay string `json:"replay,omitempty"`
}

// Box is one object in a picture, in pixels from its outer edges: x to the right, y down. The pixel of row r and column c is the square from
// (c, r) to (c+1, r+1).
type Box struct {
	X1    fold.Number `json:"x1"`
	Y1    fold.Number `json:"y1"`
	X2    fold.Number `json:"x2"`
	Y2    fold.Number `json:"y2"`
	Angle fold.Number `json:"angle"` // degrees, counter-clockwise as displayed, about the centre of the box
	Score fold.Number `json:"score"` // 0 to 1
	Label int         `json:"label"` // class, -1 if there is none
}

// ModelBoxes are the boxes of one model, best first.
type ModelBoxes struct {
	Model int   `json:"model"`
	Boxes []Box `json:"boxes"`
}

// Boxes is the answer to GET runs/{id}/samples/{i}/boxes: what was recorded at an element of the plan, in the frame of that element.
type Boxes struct {
	Index   int           `json:"index"`
	Element int           `json:"element"`
	G       group.Element `json:"g"`
	// Width and Height are those of the frame, 0 where it is as large as the sample.
	Width  float64      `json:"width"`
	Height float64      `json:"height"`
	Models []ModelBoxes `json:"models"` // those whose rows are there
	// Target is what the data say, moved to the element, the key object first; left out where the data cannot be asked now.
	Target []Box `json:"target,omitempty"`
}

// Set chooses samples: exactly one field is set, or none for all of them.
type Set struct {
	Label   *int   `json:"label,omitempty"`
	Rule    string `json:"rule,omitempty"`    // see SLICES.md
	Metric  *int   `json:"metric,omitempty"`  // beside Rule: the metric of its statistics; without it that of the request, or the first
	Indexes []int  `json:"indexes,omitempty"` // ascending
	Bits    string `json:"bits,omitempty"`    // base64 of a bitset, sample i is bit i%8 of byte i/8
	Slice   string `json:"slice,omitempty"`   // name of a kept slice
	And     []Set  `json:"and,omitempty"`
	Or      []Set  `json:"or,omitempty"`
	Not     *Set   `json:"not,omitempty"`
}

// Selected is the answer to POST runs/{id}/select: which samples a set chooses.
type Selected struct {
	N    int    `json:"n"`
	Bits string `json:"bits"` // as in Set
}

// Slice is a named set of samples.
type Slice struct {
	Name  string `json:"name"`
	Label int    `json:"label"` // class, -1 for others
	N     int    `json:"n"`
	Set   Set    `json:"set"`
	Note  string `json:"note,omitempty"` // how it was made, for people
}

// Slices is the body of GET and PUT runs/{id}/slices. Bits keep a lasso what it was when the layout changes.
type Slices struct {
	Format int     `json:"format"` // 1
	Slices []Slice `json:"slices"`
}

// AggregateRequest is the body of POST runs/{id}/aggregate.
type AggregateRequest struct {
	Set    Set   `json:"set"`
	Metric int   `json:"metric"`
	Models []int `json:"models,omitempty"` // nil for all
	// Pair asks for the paired difference of two of the models, second less first.
	Pair []int `json:"pair,omitempty"`
}

// Aggregate is the answer: the curves of a set of samples. Slice is 0 in every curve.
type Aggregate struct {
	N          int          `json:"n"` // samples in the set
	Confidence float64      `json:"confidence"`
	Curves     []fold.Curve `json:"curves"` // one per model
	Pair       *Pair        `json:"pair,omitempty"`
}

// Pair is a paired difference of two models on the same samples and elements, B less A. Lists have one entry per element.
type Pair struct {
	A     int           `json:"a"`
	B     int           `json:"b"`
	N     []int         `json:"n"`
	Mean  []fold.Number `json:"mean"`
	Lo    []fold.Number `json:"lo"`
	Hi    []fold.Number `json:"hi"`
	P10   []fold.Number `json:"p10"`
	P90   []fold.Number `json:"p90"`
	Orbit fold.Estimate `json:"orbit"` // of the mean over the orbit, clustered by sample
	// Verdict says in words what the interval is evidence of: better, worse, no evidence.
	Verdict string `json:"verdict"`
}

// Audit is an audit in a list.
type Audit struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Verdict string   `json:"verdict"`
	Models  []string `json:"models"`
	Runs    []string `json:"runs"` // ids of the runs with the same models
}

// Findings is the answer to GET audits/{id}: the document audit.json as it is, and where its places lie in a run.
type Findings struct {
	Audit    Audit           `json:"audit"`
	Document json.RawMessage `json:"document"`
	// Places are the samples and elements that the document names, as far as a run of this server has them.
	Places []Place `json:"places"`
}

// Place is a sample at an element in a run.
type Place struct {
	Sample     string        `json:"sample"` // id, as the document says it
	Element    group.Element `json:"element"`
	Model      string        `json:"model"`       // as the document says it
	ModelIndex int           `json:"model_index"` // of the same file among the models of the run
	Run        string        `json:"run"`         // id
	Index      int           `json:"index"`       // of the sample in the run
}

// Task is work that the server does in the background: an embedding, or a run that goes on.
type Task struct {
	ID       string      `json:"id"`
	Kind     string      `json:"kind"` // embedding, run
	Run      string      `json:"run"`
	Title    string      `json:"title"`
	Fraction float64     `json:"fraction"` // 0 to 1
	Seconds  fold.Number `json:"seconds"`  // left
	State    string      `json:"state"`    // waiting, running, done, failed, cancelled
	Error    string      `json:"error,omitempty"`
}

// Event is what GET events sends, one per message: exactly one field is set.
type Event struct {
	Task   *Task    `json:"task,omitempty"`
	Run    *RunCard `json:"run,omitempty"`    // a run has more rows, or is complete
	Slices string   `json:"slices,omitempty"` // id of a run whose slices changed
	Gone   string   `json:"gone,omitempty"`   // id of a run that is not there any more
	List   bool     `json:"list,omitempty"`   // runs or audits came or went: GET runs says which
}
