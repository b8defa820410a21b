// Package job holds the plain data of a run: the study that a person writes, the job that it becomes, and what a run
// stores. Everything here is JSON or YAML; nothing here opens a file or runs a model.
package job

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"nero/symmetry/group"
)

// The formats of run folders, values of [Job.Format]. Large runs are written in the second: see [Job.Settle].
const (
	FormatSmall  = 1
	FormatLarge  = 2
	FormatNumber = FormatLarge // the newest that this program reads
)

// StudyVersion is the version of the study file that this program reads.
const StudyVersion = 1

// Study is the input file of a run. Paths are relative to the file.
//
// The tags are the one place where the file's rules are written down: [ParseStudy] checks them and the published schema
// is made from them. In a jsonschema tag stand the permitted values and ranges; study:"single" lets a list of one be
// written without its brackets, study:"whole" a text be written as a whole number, and a mapping whose field has
// study:"short" may be written as the text of that field alone. The shortest study is two lines: models: m.onnx and
// data: FOLDER.
type Study struct {
	// version of the file format; default 1
	Version int `json:"version,omitempty" yaml:"version,omitempty" jsonschema:"enum=1"`
	// what the run is called where runs are listed; it decides no number; default the name of its folder
	Name string `json:"name,omitempty" yaml:"name,omitempty" jsonschema:"minLength=1"`
	// what it shows, in a sentence or two, for the head of tables, reports and pages; default nothing
	About string `json:"about,omitempty" yaml:"about,omitempty"`
	// the claim was proposed by nero discover and by nobody else; it decides no number; default false
	Hypothesis bool `json:"hypothesis,omitempty" yaml:"hypothesis,omitempty"`
	// what the models do; sets the default of output.space: scores, mask, boxes, field, image, tensor, rows, record,
	// signal
	Task string `json:"task,omitempty" yaml:"task,omitempty" jsonschema:"enum=classification,enum=segmentation,enum=detection,enum=flow,enum=image,enum=tensor,enum=regression,enum=molecules,enum=sequence"`
	// the models to compare, with distinct names; one, or the path of one, needs no list
	Models []Model `json:"models" yaml:"models" jsonschema:"minItems=1,maxItems=1000" study:"single"`
	// where models in files run: execution providers of ONNX Runtime, the first takes what it can, the next what is
	// left, such as openvino, cuda:device_id=1 or [tensorrt, cuda]; cpu takes nodes only where it is named; --provider
	// takes their place; default cpu
	Providers []string `json:"providers,omitempty" yaml:"providers,omitempty" jsonschema:"minItems=1,maxItems=10,minLength=1" study:"single"`
	// the samples
	Data Data `json:"data" yaml:"data"`
	// how a sample becomes the array that the models read
	Input Input `json:"input,omitzero" yaml:"input,omitempty"`
	// what the models return
	Output Output `json:"output,omitzero" yaml:"output,omitempty"`
	// the group, its elements and how they act; default SO(2), rotations about the center
	Group Group `json:"group,omitzero" yaml:"group,omitempty"`
	// names of metrics, or one name; default the usual ones of the output space
	Metrics []string `json:"metrics,omitempty" yaml:"metrics,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems,minLength=1" study:"single"`
	// metrics of one's own, by expressions; metrics names those that are wanted, by default all of them
	Formulas []Formula `json:"formulas,omitempty" yaml:"formulas,omitempty" jsonschema:"minItems=1,maxItems=100" study:"single"`
	// metrics of one's own that a program or a model behind an endpoint computes (docs/METRICS.md); metrics names those
	// that are wanted, by default all of them
	Measures []Measure `json:"measures,omitempty" yaml:"measures,omitempty" jsonschema:"minItems=1,maxItems=100" study:"single"`
	// how metrics with @consensus get their reference
	Consensus Consensus `json:"consensus,omitzero" yaml:"consensus,omitempty"`
	// thresholds of an audit
	Audit Audit `json:"audit,omitzero" yaml:"audit,omitempty"`
	// how samples are divided into those to learn from, to choose by and to report on
	Split Split `json:"split,omitzero" yaml:"split,omitempty"`
	// how nero watch judges the audits of several releases; it decides no number of a run or an audit
	Watch Watch `json:"watch,omitzero" yaml:"watch,omitempty"`
	// how nero repeat asks the same again; it decides no number of a run or an audit
	Repeat Repeat `json:"repeat,omitzero" yaml:"repeat,omitempty"`
	// which features nero embed looks at, and how; it decides no number of a run or an audit
	Embedding Embedding `json:"embedding,omitzero" yaml:"embedding,omitempty"`
	// of every random choice but that of the samples; default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`

	// where things stand in the file; nil for a study that was not read from one
	src *source
}

// Split says how samples are divided into three disjoint sets: by a hash of the seed and the name of the object that a
// sample shows, so that neither order nor number of the samples moves one. Pieces of one photo stay together.
type Split struct {
	// share of the objects that maps, ranks and poses are learned from; default 0.5
	Fit float64 `json:"fit,omitempty" yaml:"fit,omitempty" jsonschema:"minimum=0,maximum=1"`
	// share by which methods and thresholds are chosen; default 0.25
	Choose float64 `json:"choose,omitempty" yaml:"choose,omitempty" jsonschema:"minimum=0,maximum=1"`
	// share that every number which is reported comes from; default 0.25; the three shares have the sum 1
	Confirm float64 `json:"confirm,omitempty" yaml:"confirm,omitempty" jsonschema:"minimum=0,maximum=1"`
	// default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`
}

// LeastAlarm is the smallest probability of a false alarm that can be asked for: what many releases divide has to be
// told from 0 beside 1.
const LeastAlarm = 1e-9

// Watch says how releases that are audited again and again are judged (docs/WATCH.md).
type Watch struct {
	// error that a new input may have and not fail; default the threshold of each audit
	Limit float64 `json:"limit,omitempty" yaml:"limit,omitempty" jsonschema:"exclusiveMinimum=0"`
	// share of new inputs that may fail; default 0.05
	Rate float64 `json:"rate,omitempty" yaml:"rate,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
	// probability of any false alarm, however many releases there are; default 0.05
	Alarm float64 `json:"alarm,omitempty" yaml:"alarm,omitempty" jsonschema:"minimum=1e-9,exclusiveMaximum=1"`
	// how that probability is divided among releases: quadratic gives the k-th one 6/(π²k²) of it; default quadratic
	Spend string `json:"spend,omitempty" yaml:"spend,omitempty" jsonschema:"enum=quadratic"`
	// order of the releases; default time
	By string `json:"by,omitempty" yaml:"by,omitempty" jsonschema:"enum=time,enum=version,enum=epoch"`
}

// MostTimes is how often an input is asked at most.
const MostTimes = 1000

// Repeat says how models are asked the same again, and about given views of the same objects (docs/REPEATS.md).
type Repeat struct {
	// how often each input is asked; default 5, or one for each seed
	Times int `json:"times,omitempty" yaml:"times,omitempty" jsonschema:"minimum=1,maximum=1000"`
	// whole numbers that an endpoint is handed as the parameter seed, one for each time; default it is handed none
	Seeds []int `json:"seeds,omitempty" yaml:"seeds,omitempty" jsonschema:"minItems=1,maxItems=1000" study:"single"`
	// rules that make texts equal which mean the same, one after another: trim, case, json, match=REGEXP, number;
	// default texts are compared as they are
	Normalise []string `json:"normalise,omitempty" yaml:"normalise,omitempty" jsonschema:"minItems=1,maxItems=20,minLength=1" study:"single"`
	// name of a parameter that an endpoint is handed with another value in every request, so that nobody can answer
	// from
	// memory; default none
	Bust string `json:"bust,omitempty" yaml:"bust,omitempty" jsonschema:"minLength=1"`
	// view that the others are compared with; default the first one, of a group the identity
	Reference string `json:"reference,omitempty" yaml:"reference,omitempty" jsonschema:"minLength=1"`
	// how much more often than by chance answers to a view may differ that counts as the same; of numbers how much
	// further, in units of the centred scale; default 0.05
	Excess float64 `json:"excess,omitempty" yaml:"excess,omitempty" jsonschema:"exclusiveMinimum=0"`
}

// Embedding says which features of the models are looked at (docs/EMBEDDINGS.md).
type Embedding struct {
	// value of the graph, or node, whose numbers are the features; default the first output that is read
	Value string `json:"value,omitempty" yaml:"value,omitempty" jsonschema:"minLength=1"`
	// parts that are asked beside how far features stay and which maps move them: split, along which directions object
	// and pose lie apart, and generators, one matrix for a whole group of one parameter; default both
	What []string `json:"what,omitempty" yaml:"what,omitempty" jsonschema:"minItems=1,maxItems=2,uniqueItems,enum=split,enum=generators" study:"single"`
	// a later release of the model, an ONNX file: can it read an index of this one's features? default none
	Against string `json:"against,omitempty" yaml:"against,omitempty" jsonschema:"minLength=1"`
	// value of the graph of that release, or node, that is read; default that of the same name as value
	AgainstValue string `json:"against_value,omitempty" yaml:"against_value,omitempty" jsonschema:"minLength=1"`
	// samples that others are compared with by cosines; default 300, or as many as there are
	Anchors int `json:"anchors,omitempty" yaml:"anchors,omitempty" jsonschema:"minimum=2"`
	// of given views only those next to each other are said to show one thing, in the order in which the list first
	// names them, as of pictures of a film: whether others do follows from these; default each two of an object are
	Chain bool `json:"chain,omitempty" yaml:"chain,omitempty"`
	// the models read sequences of views and of what was done between them, and answer one vector for all
	Sequence Sequence `json:"sequence,omitzero" yaml:"sequence,omitempty"`
}

// Sequence says how models read sequences of views (docs/EMBEDDINGS.md). Each sample is moved by several elements of
// the
// group; what moves each view to the next is told in coordinates of the group.
type Sequence struct {
	// input of the views, with the axes sample, view, and those of a picture
	Views string `json:"views" yaml:"views" jsonschema:"minLength=1"`
	// input of the actions, with the axes sample, view, coordinate; after the last view that of the identity
	Actions string `json:"actions" yaml:"actions" jsonschema:"minLength=1"`
	// how many views are read; default 1, 2, 4 and 8
	Lengths []int `json:"lengths,omitempty" yaml:"lengths,omitempty" jsonschema:"minItems=1,maxItems=16,uniqueItems,minimum=1,maximum=64" study:"single"`
}

// Long are the lengths that are asked, ascending.
func (s Sequence) Long() []int {
	out := slices.Clone(s.Lengths)
	if out == nil {
		out = []int{1, 2, 4, 8}
	}
	slices.Sort(out)
	return out
}

// Formula is a metric by an expression over named arrays.
type Formula struct {
	// small letters, digits and _; no name of a metric that there is
	Name string `json:"name" yaml:"name" jsonschema:"minLength=1"`
	// one number of prediction, reference, back, identity, label and element, such as mean(abs(prediction - reference))
	Expression string `json:"expression" yaml:"expression" jsonschema:"minLength=1"`
	// such as px; default a pure number
	Unit string `json:"unit,omitempty" yaml:"unit,omitempty" jsonschema:"minLength=1"`
	// which way is better
	Better string `json:"better" yaml:"better" jsonschema:"enum=higher,enum=lower"`
	// smallest and largest value; a value outside is none; default any number
	Range []float64 `json:"range,omitempty" yaml:"range,omitempty" jsonschema:"minItems=2,maxItems=2"`
	// what reference is: the target of the data, the answer at the identity or the consensus; default target
	Against string `json:"against,omitempty" yaml:"against,omitempty" jsonschema:"enum=target,enum=self,enum=consensus"`
	// what it says, for tables; default the expression
	Doc string `json:"doc,omitempty" yaml:"doc,omitempty" jsonschema:"minLength=1"`
}

// Measure is a metric that a program or a model behind an endpoint computes: it reads arrays that have the names of
// those of expressions, and returns one number. Exactly one of Program and Endpoint is set.
type Measure struct {
	// small letters, digits and _; no name of a metric that there is
	Name string `json:"name" yaml:"name" jsonschema:"minLength=1"`
	// a program and its arguments that answers frames over its standard streams (docs/PROGRAMS.md); it is run only with
	// --allow-program
	Program []string `json:"program,omitempty" yaml:"program,omitempty" jsonschema:"minItems=1,maxItems=1000,minLength=1" study:"single"`
	// in place of program: where a server of the Open Inference Protocol v2 runs it, SCHEME://HOST:PORT/MODEL
	Endpoint string `json:"endpoint,omitempty" yaml:"endpoint,omitempty" jsonschema:"minLength=1"`
	// program: folder that it runs in; default that of the study
	Dir string `json:"dir,omitempty" yaml:"dir,omitempty" jsonschema:"minLength=1"`
	// program: how many of it run at once; default 1
	Workers int `json:"workers,omitempty" yaml:"workers,omitempty" jsonschema:"minimum=1,maximum=256"`
	// endpoint: name of the environment variable that holds a bearer token; default none
	TokenEnv string `json:"token_env,omitempty" yaml:"token_env,omitempty" jsonschema:"minLength=1"`
	// seconds that one answer may take; default 60
	Timeout float64 `json:"timeout,omitempty" yaml:"timeout,omitempty" jsonschema:"exclusiveMinimum=0,maximum=86400"`
	// such as px; default a pure number
	Unit string `json:"unit,omitempty" yaml:"unit,omitempty" jsonschema:"minLength=1"`
	// which way is better
	Better string `json:"better" yaml:"better" jsonschema:"enum=higher,enum=lower"`
	// smallest and largest value; another answer ends the run; default any number
	Range []float64 `json:"range,omitempty" yaml:"range,omitempty" jsonschema:"minItems=2,maxItems=2"`
	// what reference is: the target of the data, the answer at the identity or the consensus; default target
	Against string `json:"against,omitempty" yaml:"against,omitempty" jsonschema:"enum=target,enum=self,enum=consensus"`
	// what it says, for tables
	Doc string `json:"doc,omitempty" yaml:"doc,omitempty" jsonschema:"minLength=1"`
}

// Model is the program or the endpoint as a model of a study is written.
func (m Measure) Model() Model {
	return Model{
		Name: m.Name, Program: m.Program, Endpoint: m.Endpoint, Dir: m.Dir, Workers: m.Workers, TokenEnv: m.TokenEnv,
		Timeout: m.Timeout,
	}
}

// Model names one model: an ONNX file, a model that a server runs, a program that is a model, or a method that is
// built in. Exactly one of ONNX, Endpoint, Program and Builtin is set.
//
// Secrets do not belong into a study: it names the environment variables that hold them.
type Model struct {
	// name in tables and plots, distinct within the study; default that of the file without its extension, or the last
	// part of the endpoint
	Name string `json:"name,omitempty" yaml:"name,omitempty" jsonschema:"minLength=1"`
	// path of the ONNX file
	ONNX string `json:"onnx,omitempty" yaml:"onnx,omitempty" jsonschema:"minLength=1" study:"short"`
	// onnx: an npz file of inputs and of the answers to them that the model gave before it was exported, as arrays
	// input.NAME and output.NAME; a file that answers otherwise is refused; default none
	Witness string `json:"witness,omitempty" yaml:"witness,omitempty" jsonschema:"minLength=1"`
	// in place of onnx: where a server of the Open Inference Protocol v2 runs the model, SCHEME://HOST:PORT/MODEL with
	// scheme grpc, grpcs, http or https
	Endpoint string `json:"endpoint,omitempty" yaml:"endpoint,omitempty" jsonschema:"minLength=1"`
	// in place of onnx: a program and its arguments that answers frames over its standard streams, in any language
	// (docs/PROGRAMS.md); it is run only with --allow-program
	Program []string `json:"program,omitempty" yaml:"program,omitempty" jsonschema:"minItems=1,maxItems=1000,minLength=1" study:"single"`
	// program: folder that it runs in; default that of the study
	Dir string `json:"dir,omitempty" yaml:"dir,omitempty" jsonschema:"minLength=1"`
	// program: how many of it run at once; default 1
	Workers int `json:"workers,omitempty" yaml:"workers,omitempty" jsonschema:"minimum=1,maximum=256"`
	// in place of onnx: a classical method that the program brings, with its parameters: piv?window=16&overlap=0.5 is
	// windowed cross-correlation (docs/FLOW.md)
	Builtin string `json:"builtin,omitempty" yaml:"builtin,omitempty" jsonschema:"minLength=1"`
	// onnx: where this model runs, in place of the providers of the study; default those
	Providers []string `json:"providers,omitempty" yaml:"providers,omitempty" jsonschema:"minItems=1,maxItems=10,minLength=1" study:"single"`
	// endpoint: version of the model; default the one that the server chooses
	Version string `json:"version,omitempty" yaml:"version,omitempty" jsonschema:"minLength=1"`
	// endpoint: name of the environment variable that holds a bearer token; default none
	TokenEnv string `json:"token_env,omitempty" yaml:"token_env,omitempty" jsonschema:"minLength=1"`
	// endpoint: name of the environment variable that holds more headers, one "Name: value" a line; default none
	HeadersEnv string `json:"headers_env,omitempty" yaml:"headers_env,omitempty" jsonschema:"minLength=1"`
	// seconds that one answer may take, of a batch; default 60 for an endpoint or a program, any time for a file.
	// --time-limit takes its place
	Timeout float64 `json:"timeout,omitempty" yaml:"timeout,omitempty" jsonschema:"exclusiveMinimum=0,maximum=86400"`
	// endpoint: path of a PEM file with the certificates to trust; default those of the system
	CA string `json:"ca,omitempty" yaml:"ca,omitempty" jsonschema:"minLength=1"`
	// endpoint: accept any certificate, and send token and headers unencrypted where the scheme is grpc or http;
	// default false
	Insecure bool `json:"insecure,omitempty" yaml:"insecure,omitempty"`
	// endpoint, program: inputs of one request; default 8, or what the model's batch axis is fixed at
	Batch int `json:"batch,omitempty" yaml:"batch,omitempty" jsonschema:"minimum=1,maximum=1024"`
	// endpoint: requests under way at once; default 4
	Concurrency int `json:"concurrency,omitempty" yaml:"concurrency,omitempty" jsonschema:"minimum=1,maximum=1024"`
}

// MarshalJSON writes what [ParseStudy] reads. The path of a file is always there, even if it is empty, as it was before
// there were endpoints: what is written decides the hash of a job.
func (m Model) MarshalJSON() ([]byte, error) {
	type plain Model // without this method
	var v any = plain(m)
	if reflect.DeepEqual(m, Model{Name: m.Name, ONNX: m.ONNX}) {
		v = struct {
			Name string `json:"name,omitempty"`
			ONNX string `json:"onnx"`
		}{m.Name, m.ONNX}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // whoever calls decides about that
	err := e.Encode(v)
	return b.Bytes(), err
}

// Data names the samples.
type Data struct {
	// default guessed from the path
	Format string `json:"format,omitempty" yaml:"format,omitempty" jsonschema:"enum=idx,enum=folder,enum=npy,enum=npz,enum=voc,enum=coco,enum=coco_masks,enum=masks,enum=pairs,enum=particles,enum=phantoms,enum=clouds,enum=molecules,enum=graphs,enum=signals,enum=volumes" more:"format"`
	// path of the image file, or of the folder
	Images string `json:"images,omitempty" yaml:"images,omitempty" jsonschema:"minLength=1" study:"short"`
	// in place of images: path of given views of the same objects, CSV with columns object, view and value or file, or
	// JSON lines; views are texts, pictures or arrays (.npy)
	Views string `json:"views,omitempty" yaml:"views,omitempty" jsonschema:"minLength=1"`
	// path of the labels: IDX, npy, or CSV with columns file,label
	Labels string `json:"labels,omitempty" yaml:"labels,omitempty" jsonschema:"minLength=1"`
	// folder: regular expression over the relative path with a group named label; pairs: one with groups named pair and
	// frame
	Pattern string `json:"pattern,omitempty" yaml:"pattern,omitempty" jsonschema:"minLength=1"`
	// npz: name of the image array; default the only one, or "x"
	Key string `json:"key,omitempty" yaml:"key,omitempty" jsonschema:"minLength=1"`
	// npz: name of the label array; default "y" or "labels"
	LabelKey string `json:"label_key,omitempty" yaml:"label_key,omitempty" jsonschema:"minLength=1"`
	// npy, npz, volumes: order of the axes; default guessed from the shape; NWHD reads NIfTI files as nibabel does
	Layout string `json:"layout,omitempty" yaml:"layout,omitempty" jsonschema:"enum=NHW,enum=NCHW,enum=NHWC,enum=NDHW,enum=NCDHW,enum=NDHWC,enum=NWHD"`
	// at most this many samples; 0, the default, for all
	Limit int `json:"limit,omitempty" yaml:"limit,omitempty" jsonschema:"minimum=0,maximum=1000000000"`
	// "label": the same number of each class
	Balance string `json:"balance,omitempty" yaml:"balance,omitempty" jsonschema:"enum=label"`
	// of the choice of samples; default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`
	// only the samples that are to learn from (fit), to choose by (choose) or to report on (confirm), as split says;
	// limit and balance then choose among them; default all
	Side string `json:"side,omitempty" yaml:"side,omitempty" jsonschema:"enum=fit,enum=choose,enum=confirm"`

	// path of boxes (folder of VOC XML, COCO JSON), of masks (folder of PNG, COCO JSON) or of fields (folder or npz),
	// where they are not beside the images; "none" ignores them
	Targets string `json:"targets,omitempty" yaml:"targets,omitempty" jsonschema:"minLength=1"`
	// voc: name of a list in ImageSets/Main, masks: in ImageSets/Segmentation; default all photos
	Split string `json:"split,omitempty" yaml:"split,omitempty" jsonschema:"minLength=1"`
	// names of the classes in the order of the models' numbers; default those of the data: of VOC in alphabetical
	// order, of COCO by the number of the category
	Classes []string `json:"classes,omitempty" yaml:"classes,omitempty" jsonschema:"minItems=1,maxItems=100000,uniqueItems"`
	// height and width that every picture is brought to: scaled to fit, in the middle, zeros around it
	Fit []int `json:"fit,omitempty" yaml:"fit,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=65536"`
	// npz: name of the array of fields; default flow, or the only one
	TargetKey string `json:"target_key,omitempty" yaml:"target_key,omitempty" jsonschema:"minLength=1"`
	// where y and v of OpenPIV text point; default what the order of the rows says
	Upward string `json:"upward,omitempty" yaml:"upward,omitempty" jsonschema:"enum=up,enum=down"`
	// photos as they are shown, turned as their EXIF says, or as they are stored, which the loaders of torchvision,
	// timm and Keras take; default shown
	Orientation string `json:"orientation,omitempty" yaml:"orientation,omitempty" jsonschema:"enum=shown,enum=stored"`
	// pictures and boxes are resized by this factor when they are read, before anything moves; default 1
	Zoom float64 `json:"zoom,omitempty" yaml:"zoom,omitempty" jsonschema:"exclusiveMinimum=0,maximum=16"`
	// how a known network of photos is fed, such as torchvision/resnet50, as 'nero presets' lists them: it fills in
	// data.resize and input.channels, scale, mean and std where the study leaves them open
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty" jsonschema:"minLength=1"`
	// how photos of any size are brought to one, before anything moves; default: if the models read one size and the
	// photos of a folder have another, the shorter side gets 8/7 of it and the middle is kept, with a note
	Resize Resize `json:"resize,omitzero" yaml:"resize,omitempty"`
	// what the group may read of the photo around data.resize.crop, which becomes the window: auto for what its
	// elements reach, a number of pixels on every side, HEIGHTxWIDTH for rows and columns, or none; default none, with
	// a note where photos have more
	Margin string `json:"margin,omitempty" yaml:"margin,omitempty" jsonschema:"minLength=1" study:"whole"`
	// formats masks and coco_masks: how masks are called and what their pixels stand for
	Masks Masks `json:"masks,omitzero" yaml:"masks,omitempty"`
	// one sample per key object instead of one per photo
	Cut Cut `json:"cut,omitzero" yaml:"cut,omitempty"`
	// format particles: image pairs rendered from known flows
	Particles Particles `json:"particles,omitzero" yaml:"particles,omitempty"`
	// format phantoms: pictures drawn from formulas, which move without resampling
	Phantoms Phantoms `json:"phantoms,omitzero" yaml:"phantoms,omitempty"`
	// format clouds: how shapes become points
	Cloud Cloud `json:"cloud,omitzero" yaml:"cloud,omitempty"`
	// format signals: how recordings become signals
	Sound Sound `json:"sound,omitzero" yaml:"sound,omitempty"`
	// format molecules: symbols of the atoms that the models know; others are refused; default all
	Elements []string `json:"elements,omitempty" yaml:"elements,omitempty" jsonschema:"minItems=1,maxItems=118,uniqueItems"`
}

// Masks says how the masks of photos are called and what their pixels stand for.
type Masks struct {
	// name of a photo without ending, {name} for what it shares with its mask, such as "{name}_leftImg8bit"; default
	// {name}
	Photo string `json:"photo,omitempty" yaml:"photo,omitempty" jsonschema:"minLength=1"`
	// name of a mask likewise, such as "{name}_gtFine_labelIds"; default {name}, or with _mask or another usual word
	File string `json:"file,omitempty" yaml:"file,omitempty" jsonschema:"minLength=1"`
	// number in the files of each class, in the order of the models' numbers; default the models' numbers
	Values []int `json:"values,omitempty" yaml:"values,omitempty" jsonschema:"minItems=1,maxItems=256,minimum=0,maximum=255"`
	// red, green and blue of each class, in the order of the models' numbers
	Colors [][]int `json:"colors,omitempty" yaml:"colors,omitempty" jsonschema:"minItems=1,maxItems=100000"`
	// numbers that count for nothing; default 255
	Void []int `json:"void,omitempty" yaml:"void,omitempty" jsonschema:"minItems=1,maxItems=256,minimum=0,maximum=255" study:"single"`
	// colors that count for nothing
	VoidColors [][]int `json:"void_colors,omitempty" yaml:"void_colors,omitempty" jsonschema:"minItems=1,maxItems=100000"`
	// void: numbers, colors and categories that are no class count for nothing; default they are refused
	Rest string `json:"rest,omitempty" yaml:"rest,omitempty" jsonschema:"enum=void"`
	// format coco_masks: what counts where objects of two classes overlap, nothing or the last one of the file; default
	// void
	Overlap string `json:"overlap,omitempty" yaml:"overlap,omitempty" jsonschema:"enum=void,enum=last"`
}

// Resize brings photos to one size: to crop (after short), stretch or letterbox.
type Resize struct {
	// length that the shorter side gets before crop, in pixels; default as it is
	Short int `json:"short,omitempty" yaml:"short,omitempty" jsonschema:"minimum=1,maximum=65536"`
	// height and width of the piece about the middle that is kept
	Crop []int `json:"crop,omitempty" yaml:"crop,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=65536"`
	// height and width that a photo is brought to, each axis by itself
	Stretch []int `json:"stretch,omitempty" yaml:"stretch,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=65536"`
	// height and width of a frame that a photo is scaled to fit into, in the middle
	Letterbox []int `json:"letterbox,omitempty" yaml:"letterbox,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=65536"`
	// value of pixels outside of the photo, in the units of the files, such as 114 of 255; default 0
	Fill float64 `json:"fill,omitempty" yaml:"fill,omitempty" jsonschema:"minimum=0,maximum=65535"`
	// default bilinear
	Kernel string `json:"kernel,omitempty" yaml:"kernel,omitempty" jsonschema:"enum=bilinear,enum=bicubic,enum=lanczos,enum=area,enum=nearest"`
	// kernels are as wide where photos shrink as where they grow, as in OpenCV and Keras; default wider, as in Pillow
	// and torchvision
	Plain bool `json:"plain,omitempty" yaml:"plain,omitempty"`
}

// Cloud says how a mesh or a file of points becomes a cloud of points.
type Cloud struct {
	// points of each cloud: the first ones of a file of points, points drawn uniformly by area from a mesh; default all
	// points of a file, 1024 of a mesh
	Points int `json:"points,omitempty" yaml:"points,omitempty" jsonschema:"minimum=1,maximum=10000000"`
	// what is moved to the origin: the mean of the points, or the middle of the box around them; default mean
	Center string `json:"center,omitempty" yaml:"center,omitempty" jsonschema:"enum=mean,enum=box,enum=none"`
	// sphere: the farthest point from the origin has distance 1; box: the largest coordinate is 1; default sphere
	Scale string `json:"scale,omitempty" yaml:"scale,omitempty" jsonschema:"enum=sphere,enum=box,enum=none"`
	// what becomes of a file with fewer points: refuse (default), or repeat its points from the first on
	Short string `json:"short,omitempty" yaml:"short,omitempty" jsonschema:"enum=refuse,enum=repeat"`
	// keep the normals of points and meshes as the field "normals"
	Normals bool `json:"normals,omitempty" yaml:"normals,omitempty"`
	// the axis of the files that points up; it becomes z; default z: coordinates stay as they are
	Up string `json:"up,omitempty" yaml:"up,omitempty" jsonschema:"enum=x,enum=y,enum=z"`
	// files of numbers: names of the columns, such as "x y z nx ny nz"; default x y z, with six columns also the
	// normals
	Columns string `json:"columns,omitempty" yaml:"columns,omitempty" jsonschema:"minLength=1"`
	// of the points drawn from meshes; default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`
}

// Sound says how a recording becomes a signal.
type Sound struct {
	// samples per second that every file must have; default that of the first file
	Rate int `json:"rate,omitempty" yaml:"rate,omitempty" jsonschema:"minimum=1,maximum=10000000"`
	// samples that are taken of each recording; default all, of the shortest if a crop window or a model wants one
	// length
	Length int `json:"length,omitempty" yaml:"length,omitempty" jsonschema:"minimum=1,maximum=1000000000"`
	// first sample that is taken; default 0
	Start int `json:"start,omitempty" yaml:"start,omitempty" jsonschema:"minimum=0,maximum=1000000000"`
	// what becomes of several channels; default mean
	Mono string `json:"mono,omitempty" yaml:"mono,omitempty" jsonschema:"enum=mean,enum=left,enum=right,enum=keep"`
}

// Cut makes a sample of every key object of a photo: a piece of the photo of the given size around the rounded centre
// of its box, so that a crop window can move over real content.
type Cut struct {
	// height and width of the piece in pixels
	Size []int `json:"size,omitempty" yaml:"size,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=65536"`
	// of key objects; default all
	Classes []string `json:"classes,omitempty" yaml:"classes,omitempty" jsonschema:"minItems=1,uniqueItems"`
	// [smallest, largest] area of the key box as a share of the window (of the piece, if there is no window); default
	// [0.01, 0.5]
	Area []float64 `json:"area,omitempty" yaml:"area,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=0"`
	// what becomes of a piece that leaves the photo: skip (default) leaves the object out, reflect mirrors the photo
	// and tags the sample padded, refuse ends
	Outside string `json:"outside,omitempty" yaml:"outside,omitempty" jsonschema:"enum=skip,enum=reflect,enum=refuse"`
	// at most this many key objects of one photo, those nearest to its middle; 0, the default, for all
	PerPhoto int `json:"per_photo,omitempty" yaml:"per_photo,omitempty" jsonschema:"minimum=0"`
}

// Particles are pairs of particle images rendered from known velocity fields.
type Particles struct {
	// number of pairs; default 120
	Count int `json:"count,omitempty" yaml:"count,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// kinds of flow, taken in turn; default all six
	Flows []string `json:"flows,omitempty" yaml:"flows,omitempty" jsonschema:"minItems=1,uniqueItems,enum=uniform,enum=step,enum=cylinder,enum=sqg,enum=isotropic,enum=vortices"`
	// height and width; default [256, 256]
	Size []int `json:"size,omitempty" yaml:"size,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=8,maximum=8192"`
	// particles per pixel; default 0.05
	Density float64 `json:"density,omitempty" yaml:"density,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// of a particle image in pixels (four standard deviations); default 2.5
	Diameter float64 `json:"diameter,omitempty" yaml:"diameter,omitempty" jsonschema:"exclusiveMinimum=0,maximum=64"`
	// standard deviation of the grey levels; default 0
	Noise float64 `json:"noise,omitempty" yaml:"noise,omitempty" jsonschema:"minimum=0,maximum=255"`
	// share of particles that leave the light sheet between the frames; default 0
	Loss float64 `json:"loss,omitempty" yaml:"loss,omitempty" jsonschema:"minimum=0,maximum=1"`
	// largest displacement in pixels; default 8
	Shift float64 `json:"shift,omitempty" yaml:"shift,omitempty" jsonschema:"exclusiveMinimum=0,maximum=256"`
	// where the mean flow goes, in degrees counter-clockwise from the right; default 0
	Heading float64 `json:"heading,omitempty" yaml:"heading,omitempty" jsonschema:"minimum=-360,maximum=360"`
	// standard deviation of the heading from flow to flow, in degrees; default 15
	Turn float64 `json:"turn,omitempty" yaml:"turn,omitempty" jsonschema:"exclusiveMinimum=0,maximum=360"`
	// part of the mean flow in flows that know none of their own; default 0.5
	Mean float64 `json:"mean,omitempty" yaml:"mean,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`
}

// Phantoms are smooth pictures drawn from formulas. An element of a group draws them anew where it moves them, so that
// no error comes from resampling them.
type Phantoms struct {
	// number of pictures; default 64
	Count int `json:"count,omitempty" yaml:"count,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// kinds of formula, taken in turn: sums of plane waves, round spots, soft ellipses; default all
	Kinds []string `json:"kinds,omitempty" yaml:"kinds,omitempty" jsonschema:"minItems=1,uniqueItems,enum=waves,enum=gaussians,enum=ellipses"`
	// height and width, as the models read them; default [32, 32]
	Size []int `json:"size,omitempty" yaml:"size,omitempty" jsonschema:"minItems=2,maxItems=2,minimum=1,maximum=8192"`
	// as the models read them; default 1
	Channels int `json:"channels,omitempty" yaml:"channels,omitempty" jsonschema:"minimum=1,maximum=4096"`
	// share of the Nyquist frequency (half a cycle per pixel) below which the spectrum stays; default 0.5
	Band float64 `json:"band,omitempty" yaml:"band,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// default 0
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty" jsonschema:"minimum=0"`
}

// Input says how an image becomes the array that the models read: (v/scale - mean[c]) / std[c].
type Input struct {
	// image, frames for pairs and stacks of pictures, rows for points, signal, volume, or record for several fields;
	// tensor for arrays and text for texts of given views; bytes hands given views to an endpoint as they are; default
	// that of the data
	Space string `json:"space,omitempty" yaml:"space,omitempty" jsonschema:"enum=image,enum=frames,enum=rows,enum=signal,enum=volume,enum=tensor,enum=text,enum=record,enum=bytes" more:"kind"`
	// order of the axes; default follows the model's shape
	Layout string `json:"layout,omitempty" yaml:"layout,omitempty" jsonschema:"enum=NCHW,enum=NHWC"`
	// order of the channels; default as in the file
	Channels string `json:"channels,omitempty" yaml:"channels,omitempty" jsonschema:"enum=rgb,enum=bgr,enum=grey"`
	// divides every intensity; default 1
	Scale float64 `json:"scale,omitempty" yaml:"scale,omitempty" jsonschema:"exclusiveMinimum=0"`
	// one number, or one per channel; default 0
	Mean []float64 `json:"mean,omitempty" yaml:"mean,omitempty" jsonschema:"minItems=1,maxItems=4096" study:"single"`
	// frames: names of the inputs, one per frame; default one input with all frames as channels
	Ports []string `json:"ports,omitempty" yaml:"ports,omitempty" jsonschema:"minItems=1,maxItems=64"`
	// one number above 0, or one per channel; default 1
	Std []float64 `json:"std,omitempty" yaml:"std,omitempty" jsonschema:"minItems=1,maxItems=4096,exclusiveMinimum=0" study:"single"`
	// space rows, signal or record: which fields of the data go to which inputs, and how they move; default the only
	// field to the only input
	Fields []Port `json:"fields,omitempty" yaml:"fields,omitempty" jsonschema:"minItems=1,maxItems=64" study:"single"`
	// space signal: a model that reads frame by frame
	Recurrent Recurrent `json:"recurrent,omitzero" yaml:"recurrent,omitempty"`
}

// Output says what the models return.
type Output struct {
	// embedding: a vector of features, one point for each sample; default scores
	Space string `json:"space,omitempty" yaml:"space,omitempty" jsonschema:"enum=scores,enum=image,enum=mask,enum=tensor,enum=embedding,enum=boxes,enum=field,enum=frames,enum=rows,enum=signal,enum=volume,enum=record" more:"kind"`
	// which output of the model; default the first
	Name string `json:"name,omitempty" yaml:"name,omitempty" jsonschema:"minLength=1"`
	// default softmax for scores; argmax for masks with a channel per class, else raw; raw for images and tensors;
	// threshold makes two classes of one channel
	Decode string `json:"decode,omitempty" yaml:"decode,omitempty" jsonschema:"enum=softmax,enum=probabilities,enum=argmax,enum=threshold,enum=raw"`
	// decode threshold: a pixel is of class 1 where its number is above; such as 0.5 for probabilities, 0 for logits
	Threshold []float64 `json:"threshold,omitempty" yaml:"threshold,omitempty" jsonschema:"minItems=1,maxItems=1" study:"single"`
	// how the group should move the output; default invariant for scores, same for the others
	Action string `json:"action,omitempty" yaml:"action,omitempty" jsonschema:"enum=invariant,enum=same"`
	// tensor and embedding: representation that the channels carry; default trivial
	Type Type `json:"type,omitzero" yaml:"type,omitempty"`
	// space boxes
	Boxes Boxes `json:"boxes,omitzero" yaml:"boxes,omitempty"`
	// space field
	Field Field `json:"field,omitzero" yaml:"field,omitempty"`
	// kernel of the output's action; default that of the input
	Kernel string `json:"resample,omitempty" yaml:"resample,omitempty" jsonschema:"enum=nearest,enum=bilinear,enum=bicubic,enum=lanczos,enum=spline,enum=quintic,enum=area,enum=fourier,enum=up3-bilinear"`
	// space rows, signal or record: the outputs of the model, each with how it should move
	Fields []Port `json:"fields,omitempty" yaml:"fields,omitempty" jsonschema:"minItems=1,maxItems=64" study:"single"`
}

// Type is how a group moves the channels of a tensor: by a representation with a name, or by matrices in a file.
type Type struct {
	// trivial: every channel stays what it is; regular: a channel for each element of a finite group
	Name string `json:"name,omitempty" yaml:"name,omitempty" jsonschema:"enum=trivial,enum=regular" study:"short"`
	// an npz file with a matrix for each element: elements, one row of coordinates for each, and matrices, one for
	// each, which moves as many channels, from the left
	Matrices string `json:"matrices,omitempty" yaml:"matrices,omitempty" jsonschema:"minLength=1"`
	// of the file of matrices, which is refused where it is another; default that which it has
	SHA256 string `json:"sha256,omitempty" yaml:"sha256,omitempty" jsonschema:"minLength=64"`
}

// String is the name, or what stands for it.
func (t Type) String() string {
	if t.Matrices != "" {
		return "matrices " + t.SHA256
	}
	return t.Name
}

// MarshalJSON writes a name alone as a text, as it is written in a study.
func (t Type) MarshalJSON() ([]byte, error) {
	if t == (Type{Name: t.Name}) {
		return json.Marshal(t.Name)
	}
	type plain Type
	return json.Marshal(plain(t))
}

// UnmarshalJSON reads a text as the name.
func (t *Type) UnmarshalJSON(b []byte) error {
	*t = Type{}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &t.Name)
	}
	type plain Type
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(t))
}

// Port is one input or output of a model: which field of the data it is, and how the group moves it. Every port has an
// action: one that stays as it is says so with type unchanged.
type Port struct {
	// field of the data, such as positions; for outputs the name under which it is shown
	Name string `json:"name" yaml:"name" jsonschema:"minLength=1" study:"short"`
	// name of the model's input or output; default the name, or the only one
	Port string `json:"port,omitempty" yaml:"port,omitempty" jsonschema:"minLength=1"`
	// what the array is; default that of the data, for outputs rows
	Kind string `json:"kind,omitempty" yaml:"kind,omitempty" jsonschema:"enum=rows,enum=links,enum=pairs,enum=signal,enum=volume,enum=frames,enum=image,enum=scores" more:"kind"`
	// rows and pairs: what the numbers are: positions, vectors, pseudovectors, pseudoscalars, tensors, poses,
	// quaternions, boxes, boxes-quaternion, boxes-matrix, boxes-6d, incidence, irreps such as 4x0e+2x1o, a
	// representation of a group of the user, or unchanged
	Type string `json:"type,omitempty" yaml:"type,omitempty" jsonschema:"minLength=1"`
	// rows: what a row belongs to, and so what a permutation moves; default node, for outputs sample unless they have a
	// row per node
	Per string `json:"per,omitempty" yaml:"per,omitempty" jsonschema:"enum=node,enum=edge,enum=sample"`
	// name of the set that rows per node, edges and pairs speak of, where there are several: each is permuted by a
	// factor of its own, as in S x S, in the order in which the input's fields name them; default that of the first
	// field
	Set string `json:"set,omitempty" yaml:"set,omitempty" jsonschema:"minLength=1"`
	// incidence: name of the set of which every row has a number for each member, such as the nodes of subgraphs
	Of string `json:"of,omitempty" yaml:"of,omitempty" jsonschema:"minLength=1"`
	// such as eV or Å, for tables and plots
	Unit string `json:"unit,omitempty" yaml:"unit,omitempty" jsonschema:"minLength=1"`
	// input: the same numbers for every sample, in place of a field of the data, such as the direction of gravity; they
	// move like data
	Value []float64 `json:"value,omitempty" yaml:"value,omitempty" jsonschema:"minItems=1,maxItems=1000000" study:"single"`
	// rows, input: zeros are added up to this many rows, and rows beyond those of the sample are cut from outputs per
	// node
	Pad int `json:"pad,omitempty" yaml:"pad,omitempty" jsonschema:"minimum=1,maximum=10000000"`
}

// Recurrent says that a model reads a signal frame by frame and hands a state on. nero runs it over the whole signal
// from the declared start.
type Recurrent struct {
	// input that takes a frame; default the only one that is no state and no constant
	Input string `json:"input,omitempty" yaml:"input,omitempty" jsonschema:"minLength=1"`
	// output of a frame; default the only one that is no state
	Output string `json:"output,omitempty" yaml:"output,omitempty" jsonschema:"minLength=1"`
	// new samples of each frame
	Frame int `json:"frame" yaml:"frame" jsonschema:"minimum=1,maximum=10000000"`
	// samples of the past in front of each frame, zeros before the start; default 0
	Context int `json:"context,omitempty" yaml:"context,omitempty" jsonschema:"minimum=0,maximum=10000000"`
	// what is handed on; default none
	States []State `json:"states,omitempty" yaml:"states,omitempty" jsonschema:"maxItems=64" study:"single"`
	// inputs that are the same for every frame, such as the sample rate
	Feed []Feeding `json:"feed,omitempty" yaml:"feed,omitempty" jsonschema:"maxItems=64" study:"single"`
}

// State is an input that gets the value of an output of the step before.
type State struct {
	// input
	In string `json:"in" yaml:"in" jsonschema:"minLength=1"`
	// output
	Out string `json:"out" yaml:"out" jsonschema:"minLength=1"`
	// of one signal, with 1 on the axis of the batch; default that of the model's input
	Shape []int `json:"shape,omitempty" yaml:"shape,omitempty" jsonschema:"minItems=1,maxItems=8,minimum=1"`
	// at the beginning: one number for all, or all of them; default 0
	Start []float64 `json:"start,omitempty" yaml:"start,omitempty" jsonschema:"minItems=1,maxItems=1000000" study:"single"`
}

// Feeding is an input with a fixed value.
type Feeding struct {
	// input
	In string `json:"in" yaml:"in" jsonschema:"minLength=1"`
	// one number for all, or all of them
	Value []float64 `json:"value" yaml:"value" jsonschema:"minItems=1,maxItems=1000000" study:"single"`
}

// Boxes says how the numbers of a detector become boxes.
type Boxes struct {
	// outputs that hold boxes; default found by their shapes
	Parts []BoxesPart `json:"parts,omitempty" yaml:"parts,omitempty" jsonschema:"minItems=1,maxItems=64" study:"single"`
	// numbers of one box in an output that holds all of them, in their order: box (four coordinates), score, label,
	// object (confidence that there is one), scores (one per class, at the end), image (number of the sample in the
	// batch), skip; default by classes and the number of columns
	Columns []string `json:"columns,omitempty" yaml:"columns,omitempty" jsonschema:"minItems=1,maxItems=1000,enum=box,enum=score,enum=label,enum=object,enum=scores,enum=image,enum=skip"`
	// number of classes without the background; default as many as the outputs have
	Classes int `json:"classes,omitempty" yaml:"classes,omitempty" jsonschema:"minimum=0,maximum=100000"`
	// two corners, centre and size, or corner and size; default xyxy, with anchors cxcywh
	Form string `json:"form,omitempty" yaml:"form,omitempty" jsonschema:"enum=xyxy,enum=cxcywh,enum=xywh"`
	// y comes before x
	Swap bool `json:"swap,omitempty" yaml:"swap,omitempty"`
	// pixels of the input, or 0 to 1 across it; default pixel
	Unit string `json:"unit,omitempty" yaml:"unit,omitempty" jsonschema:"enum=pixel,enum=unit"`
	// places that raw offsets are measured from; default none: coordinates are absolute
	Anchors []Anchors `json:"anchors,omitempty" yaml:"anchors,omitempty" jsonschema:"minItems=1,maxItems=64" study:"single"`
	// divides raw offsets from anchors; default 1
	Scale float64 `json:"scale,omitempty" yaml:"scale,omitempty" jsonschema:"exclusiveMinimum=0"`
	// divides raw sizes; default scale
	SizeScale float64 `json:"size_scale,omitempty" yaml:"size_scale,omitempty" jsonschema:"exclusiveMinimum=0"`
	// raw sizes are logarithms relative to the anchor's
	Log bool `json:"log,omitempty" yaml:"log,omitempty"`
	// turns raw scores into confidence; default none
	Activation string `json:"activation,omitempty" yaml:"activation,omitempty" jsonschema:"enum=none,enum=sigmoid,enum=softmax"`
	// bounds raw scores to ±clamp first; default no bound
	Clamp float64 `json:"clamp,omitempty" yaml:"clamp,omitempty" jsonschema:"exclusiveMinimum=0"`
	// which class means no object; default none
	Background string `json:"background,omitempty" yaml:"background,omitempty" jsonschema:"enum=first,enum=last"`
	// smallest confidence of a box; default 0.05
	Limit float64 `json:"limit,omitempty" yaml:"limit,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// what becomes of boxes that overlap a better one of their class; default hard, or none where the model gives class
	// numbers
	Suppress string `json:"suppress,omitempty" yaml:"suppress,omitempty" jsonschema:"enum=hard,enum=soft,enum=weighted,enum=none"`
	// IoU above which boxes are suppressed; default 0.5
	Overlap float64 `json:"overlap,omitempty" yaml:"overlap,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// of soft suppression; default 0.5
	Sigma float64 `json:"sigma,omitempty" yaml:"sigma,omitempty" jsonschema:"exclusiveMinimum=0"`
	// boxes kept at most; default 100
	Most int `json:"most,omitempty" yaml:"most,omitempty" jsonschema:"minimum=1,maximum=1000"`
	// cut boxes to the picture
	Clip bool `json:"clip,omitempty" yaml:"clip,omitempty"`
}

// BoxesPart names the outputs of one set of boxes.
type BoxesPart struct {
	// coordinates [N, n, 4], or with scores and classes after them
	Boxes string `json:"boxes" yaml:"boxes" jsonschema:"minLength=1" study:"short"`
	// [N, n, classes] or [N, n]
	Scores string `json:"scores,omitempty" yaml:"scores,omitempty" jsonschema:"minLength=1"`
	// confidence that there is an object, multiplied with the scores
	Object string `json:"object,omitempty" yaml:"object,omitempty" jsonschema:"minLength=1"`
	// class numbers, where there is one score per box
	Labels string `json:"labels,omitempty" yaml:"labels,omitempty" jsonschema:"minLength=1"`
}

// Anchors is a grid of places that raw boxes are measured from.
type Anchors struct {
	// pixels between places
	Stride int `json:"stride" yaml:"stride" jsonschema:"minimum=1,maximum=4096"`
	// the first place lies at the edge; default half a stride from it
	Corner bool `json:"corner,omitempty" yaml:"corner,omitempty"`
	// anchors of one place; default 1, or as many as sizes
	PerCell int `json:"per_cell,omitempty" yaml:"per_cell,omitempty" jsonschema:"minimum=1,maximum=1000"`
	// width and height of each anchor in pixels; default the size of the window
	Sizes [][]float64 `json:"sizes,omitempty" yaml:"sizes,omitempty" jsonschema:"minItems=1,maxItems=1000,exclusiveMinimum=0"`
}

// Field says how the numbers of a model become a vector field.
type Field struct {
	// which component comes first, u along the columns or v along the rows; default uv
	Order string `json:"order,omitempty" yaml:"order,omitempty" jsonschema:"enum=uv,enum=vu"`
	// multiplies the numbers; default 1
	Scale float64 `json:"scale,omitempty" yaml:"scale,omitempty"`
	// the model's v points up
	Up bool `json:"up,omitempty" yaml:"up,omitempty"`
	// order of the axes; default follows the model's shape
	Layout string `json:"layout,omitempty" yaml:"layout,omitempty" jsonschema:"enum=NCHW,enum=NHWC"`
	// vectors belong to positions in the first frame, so that reversing time negates them to first order only; default
	// the middle of the time
	AtFirst bool `json:"at_first,omitempty" yaml:"at_first,omitempty"`
}

// Consensus says how the model's own answers over an orbit are averaged to stand in for labels.
type Consensus struct {
	// of coordinates and vectors; default median for boxes, mean for all else
	Center string `json:"center,omitempty" yaml:"center,omitempty" jsonschema:"enum=mean,enum=median"`
	// share of contributing elements below which a consensus supports no verdict; default 0.5
	Weak float64 `json:"weak,omitempty" yaml:"weak,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// compare each element with the consensus of the others
	LeaveOut bool `json:"leave_out,omitempty" yaml:"leave_out,omitempty"`
}

// Group names the group, the elements to visit and how they act on the input.
type Group struct {
	// such as SO(2), C4, D4, T(2), SO(3), E(3), S(5); S alone permutes as many rows as the largest sample has; given
	// for
	// views of objects that are listed, without a group (data.views)
	Name string `json:"name" yaml:"name" jsonschema:"minLength=1" study:"short"`
	// which elements; default the preset of the group: all of a finite group, else a grid or samples
	Orbit Orbit `json:"orbit,omitzero" yaml:"orbit,omitempty"`
	// interpolation kernel; default bilinear
	Resample string `json:"resample,omitempty" yaml:"resample,omitempty" jsonschema:"enum=nearest,enum=bilinear,enum=bicubic,enum=lanczos,enum=spline,enum=quintic,enum=area,enum=fourier,enum=up3-bilinear"`
	// what lies outside the picture; default zero
	Border string `json:"border,omitempty" yaml:"border,omitempty" jsonschema:"enum=zero,enum=edge,enum=reflect,enum=circular"`
	// the part of pictures and of maps that counts: disc for the inscribed disc, which turns never leave; default all
	Mask string `json:"mask,omitempty" yaml:"mask,omitempty" jsonschema:"enum=disc"`
	// boxes turn with the picture; default the smallest upright box around the turned one
	Oriented bool `json:"oriented,omitempty" yaml:"oriented,omitempty"`
	// height and width, in pixels, of a crop window that moves over a larger picture; of signals its length in samples
	Window []int `json:"window,omitempty" yaml:"window,omitempty" jsonschema:"minItems=1,maxItems=2,minimum=1,maximum=1000000000"`
	// a group of your own, which then has this name: YAML with a table, matrices, generators or a program
	File string `json:"file,omitempty" yaml:"file,omitempty" jsonschema:"minLength=1"`
	// What the file says, so that a run knows its group without it.
	Definition string `json:"definition,omitempty" yaml:"definition,omitempty" jsonschema:"minLength=1"`
}

// Orbit chooses elements. At most one of Grid, All, Haar, LowDiscrepancy, Lattice, Values, Slices is set; none means
// the preset: every element of a finite group, else a grid.
type Orbit struct {
	// number of elements per axis of the chart
	Grid []int `json:"grid,omitempty" yaml:"grid,omitempty" jsonschema:"minItems=1,maxItems=16,minimum=1,maximum=1000000" study:"single"`
	// every element of a finite group
	All bool `json:"all,omitempty" yaml:"all,omitempty"`
	// this many elements drawn from the Haar measure
	Haar int `json:"haar,omitempty" yaml:"haar,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// this many elements, spread evenly
	LowDiscrepancy int `json:"low_discrepancy,omitempty" yaml:"low_discrepancy,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// only elements that act without resampling
	Lattice bool `json:"lattice,omitempty" yaml:"lattice,omitempty"`
	// listed elements: one number per axis of the chart, in its unit
	Values [][]float64 `json:"values,omitempty" yaml:"values,omitempty" jsonschema:"minItems=1,maxItems=1000000"`
	// [min, max] per axis of the chart, in its unit: the window of a non-compact group
	Range [][]float64 `json:"range,omitempty" yaml:"range,omitempty" jsonschema:"minItems=1,maxItems=16"`
	// rotations in space about the axes of planes, as discs show them
	Slices Slices `json:"slices,omitzero" yaml:"slices,omitempty"`
	// a finer grid around one element, besides what the other keys choose
	Refine Refine `json:"refine,omitzero" yaml:"refine,omitempty"`
	// about one in so many of the elements that the other keys choose, spread evenly, and the identity; default all
	Every int `json:"every,omitempty" yaml:"every,omitempty" jsonschema:"minimum=1,maximum=1000000"`
}

// Slices are the rotations by every angle about every axis that lies in a plane: the axis at psi is (cos psi, sin psi,
// 0) in the plane xy, (cos psi, 0, sin psi) in xz and (0, cos psi, sin psi) in yz.
type Slices struct {
	// default all three
	Planes []string `json:"planes,omitempty" yaml:"planes,omitempty" jsonschema:"minItems=1,maxItems=3,uniqueItems,enum=xy,enum=xz,enum=yz" study:"single"`
	// degrees between axes; divides 360; default 5
	Axis float64 `json:"axis,omitempty" yaml:"axis,omitempty" jsonschema:"exclusiveMinimum=0,maximum=180"`
	// degrees between angles, which go from 0 to 180; divides 180; default 15
	Angle float64 `json:"angle,omitempty" yaml:"angle,omitempty" jsonschema:"exclusiveMinimum=0,maximum=180"`
}

// Refine is a grid of elements around one that is given.
type Refine struct {
	// coordinates in the chart
	At []float64 `json:"at,omitempty" yaml:"at,omitempty" jsonschema:"minItems=1,maxItems=64"`
	// how far the grid reaches on each axis; for factors a ratio of 1 or more; 0 keeps the coordinate; default 5
	// degrees, 2 px or samples, a tenth of other lengths
	Radius []float64 `json:"radius,omitempty" yaml:"radius,omitempty" jsonschema:"minItems=1,maxItems=64,minimum=0"`
	// odd numbers of elements on each axis; default as many as keep the whole below a thousand, 5 at most
	Grid []int `json:"grid,omitempty" yaml:"grid,omitempty" jsonschema:"minItems=1,maxItems=64,minimum=1,maximum=100000" study:"single"`
}

// Audit holds the thresholds of an audit.
type Audit struct {
	// default production
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty" jsonschema:"enum=research,enum=production,enum=critical,enum=safety"`
	// relative error allowed; 0, the default, takes the preset's
	Threshold float64 `json:"threshold,omitempty" yaml:"threshold,omitempty" jsonschema:"minimum=0"`
	// of intervals; default 0.95
	Confidence float64 `json:"confidence,omitempty" yaml:"confidence,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
	// number of inputs; 0, the default, takes the preset's
	Samples int `json:"samples,omitempty" yaml:"samples,omitempty" jsonschema:"minimum=0,maximum=1000000000"`
	// at most this many elements, exact ones first; 0, the default, takes all of the orbit
	Elements int `json:"elements,omitempty" yaml:"elements,omitempty" jsonschema:"minimum=0,maximum=1000000"`
	// checks to run, with all that they need; default all
	Checks []string `json:"checks,omitempty" yaml:"checks,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems,minLength=1" study:"single"`
	// checks to leave out; the report says so
	Skip []string `json:"skip,omitempty" yaml:"skip,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems,minLength=1" study:"single"`
	// optional checks without which there is no PASS; "all" for every one; default none, all with preset safety
	Require []string `json:"require,omitempty" yaml:"require,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems,minLength=1" study:"single"`
	// layers to look at, by the name of the node or of its output; default all
	Layers []string `json:"layers,omitempty" yaml:"layers,omitempty" jsonschema:"minItems=1,maxItems=10000,uniqueItems,minLength=1" study:"single"`
	// parameters of checks, such as "layers.samples=16"; all are listed by: nero checks
	Params []string `json:"params,omitempty" yaml:"params,omitempty" jsonschema:"minItems=1,maxItems=1000,uniqueItems,minLength=1" study:"single"`
	// what must hold of inputs like these; default nothing beyond the threshold
	Contract Contract `json:"contract,omitzero" yaml:"contract,omitempty"`
	// stop adding inputs once the verdict is certain at any time; default false
	EarlyStop bool `json:"early_stop,omitempty" yaml:"early_stop,omitempty"`
	// who answers for the audit, as reports name them; default nobody
	Author string `json:"author,omitempty" yaml:"author,omitempty" jsonschema:"minLength=1"`
}

// Contract is the statement P(error > Error) <= Rate with confidence Confidence, over inputs like those of the study;
// the error of an input is its largest on the orbit. The zero Contract demands nothing.
type Contract struct {
	// relative error that may be exceeded rarely
	Error float64 `json:"error" yaml:"error" jsonschema:"exclusiveMinimum=0"`
	// share of inputs that may exceed it
	Rate float64 `json:"rate" yaml:"rate" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
	// of the statement; default 0.95
	Confidence float64 `json:"confidence,omitempty" yaml:"confidence,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
}

// Ref is a file and what it holds.
type Ref struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Table is the file that lists the files of a job.
type Table struct {
	// Count is how many files there are, and SHA256 the digest of their digests: [FilesDigest].
	Count  int    `json:"count"`
	SHA256 string `json:"sha256"`
	// File is the SHA-256 of the table itself. It holds paths, so it is no part of what is computed; "" before it was
	// written.
	File string `json:"file"`
}

// Head is what the head of a picture file says. The zero Head says nothing.
type Head struct {
	Channels, Height, Width int32
	// bits of each number
	Depth int32
	// a palette of greys, which serves as one channel or as three
	Either bool
	// how it lies in its file: 1 to 8 as EXIF has it, 0 where it does not say
	Turn int32
}

// ModelRef is a model of a job.
type ModelRef struct {
	Name string `json:"name"`
	Ref
	// Batch is the micro-batch: how many inputs go through the model at once. It is fixed here, not by the worker, so
	// that every worker count computes the same numbers.
	Batch int `json:"batch"`
	// Provider is where the model runs if that is not where the engine runs the others; cpu for the processor.
	Provider string `json:"provider,omitempty"`
}

// Engine names the body that a job's numbers come from.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Provider is where it runs models, with all options that decide numbers; empty for the processor.
	Provider string `json:"provider,omitempty"`
}

// String is the engine in a sentence.
func (e Engine) String() string {
	s := e.Name + " " + e.Version
	if e.Provider != "" {
		s += " on " + e.Provider
	}
	return s
}

// Job is everything that decides the numbers of a run. Its canonical JSON is hashed; the hash names every file of the
// run.
type Job struct {
	// of the run folder: FormatSmall or FormatLarge
	Format int `json:"format"`
	// raised whenever code changes the numbers
	Numbers int `json:"numbers"`
	// with every default filled in
	Study  Study      `json:"study"`
	Models []ModelRef `json:"models"`
	// Asked are the programs and endpoints that compute metrics, in the order of the study.
	Asked []Ref `json:"asked,omitempty"`
	// Files are those of the data. Where there is a table the JSON has none of them.
	Files []Ref `json:"files"`
	// Table stands in the JSON of a large job for its files, which have a file of their own.
	Table *Table `json:"table,omitempty"`
	// Heads say what files of pictures are, in the order of Files; nil where nobody has looked. They follow from what
	// the files hold, and are kept with them in the table.
	Heads []Head `json:"-"`
	// indexes into the data set; nil for all
	Samples []int `json:"samples,omitempty"`
	// number of samples
	Count int `json:"count"`
	// Names is the digest of the samples' names and labels that [NamesDigest] returns: it tells apart folders that hold
	// the same files under other names, which the digests of Files alone do not. "" if nobody computed it.
	Names string `json:"names,omitempty"`
	// of the output, 0 if it has none
	Classes  int             `json:"classes,omitempty"`
	Elements []group.Element `json:"elements"`
	// which elements act without resampling
	Exact   []bool    `json:"exact"`
	Weights []float64 `json:"weights,omitempty"`
	Measure string    `json:"measure"`
	Metrics []string  `json:"metrics"`
	// Pixels says that rows hold counts of pixels, of which metrics are computed.
	Pixels bool   `json:"pixels,omitempty"`
	Engine Engine `json:"engine"`
	// samples per shard
	Shard int    `json:"shard"`
	Seed  uint64 `json:"seed"`
}

// Detection is a predicted box as it is stored, in pixels of the window from its outer edge.
type Detection struct {
	X1, Y1, X2, Y2, Angle, Score float32
	Label                        int32
	// see metric.Hit
	Match uint16
}

// Shard is a half-open range of samples, cut from the job alone.
type Shard struct {
	Index int `json:"index"`
	Lo    int `json:"lo"`
	Hi    int `json:"hi"`
}

// Shards cuts the job into its shards: ranges of [Job.Shard] samples in order, the last one shorter if need be. It
// panics if the size is below 1, which [Job.Validate] refuses.
func (j *Job) Shards() []Shard {
	if j.Shard < 1 {
		panic("job: shard size below 1")
	}
	var s []Shard
	for lo := 0; lo < j.Count; {
		hi := j.Count
		if hi-lo > j.Shard {
			hi = lo + j.Shard
		}
		s = append(s, Shard{Index: len(s), Lo: lo, Hi: hi})
		lo = hi
	}
	return s
}

// Thinned says of a job that visits one in so many of the elements of its orbit what that means for its numbers; "" of
// one that visits all.
func (j *Job) Thinned() string {
	if j.Study.Group.Orbit.Every <= 1 {
		return ""
	}
	return "Only some elements of the orbit are visited, " + j.Measure + ". What is worst along an orbit is so among " +
		"these, and the others may be worse."
}

// Pixels are those of one class in one answer and its truth.
type Pixels struct {
	// -1 in place of all counts if the answer has a pixel without a class
	Class int32
	// in both, in the answer, in the truth
	Both, Got, Want int32
}

// Row is one sample under one model: the individual NERO curves.
type Row struct {
	// index into Job.Models
	Model int
	// position in the job's samples
	Index int
	// id
	Sample string
	// -1 if there is none
	Label int
	Tags  []string //
	// metric × element; NaN where a value does not exist
	Curves [][]float32
	// predicted class per element; nil if the output has none
	Top []int32
	// Boxes are the predicted boxes per element, best first, in the frame of the element; nil if the output has none.
	Boxes [][]Detection
	// Truths are the numbers of objects per element and class in the reference, element by element; nil if there is
	// none.
	Truths [][]int32
	// Pixels are the counts of pixels by class per element against the target; nil if the job has none.
	Pixels [][]Pixels
	// Support is the share of elements that contributed to the consensus, Agreement the agreement of the consensus with
	// the target by the first metric that has both references. They mean something in runs with a metric against the
	// consensus alone; NaN where a sample has none.
	Support, Agreement float32
	// why the sample could not be evaluated; Curves are then NaN
	Err string
}
