package server

import (
	"net/http"

	_ "embed" // for openapi.json.

	"nero/present/table"
	"nero/serve/api"
	"nero/serve/shelf"
)

//go:generate go test -run ^TestOpenAPIFile$ . -update

// openAPI is this table and the types of package api for programs. It is generated from them.
//
//go:embed openapi.json
var openAPI []byte

// prefix is where the calls lie, relative to the page.
const prefix = "api/v1/"

// route is a call of the API: what the server registers and what openapi.json says.
type route struct {
	// below prefix
	method, path string
	// of the operation
	name string
	// one sentence
	doc   string
	query []param
	// a value of the type of the body, nil for none
	body    any
	answers []answer
	do      func(s *Server, w http.ResponseWriter, r *request) error
}

// param is a value in a query.
type param struct {
	name, doc string
	required  bool
	schema    map[string]any
}

// answer is an answer that is no problem.
type answer struct {
	status int
	// media type, without parameters; "" for none
	kind string
	doc  string
	// a value of the type of the document, nil for bytes
	body any
}

// keys are the names of the values in the query.
func (rt *route) keys() []string {
	keys := make([]string, len(rt.query))
	for i, p := range rt.query {
		keys[i] = p.name
	}
	return keys
}

// shapes of values in a query.
func word(pattern string) map[string]any { return map[string]any{"type": "string", "pattern": pattern} }

func oneOf(words ...string) map[string]any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = w
	}
	return map[string]any{"type": "string", "enum": all, "default": words[0]}
}

// optional is a parameter that may be left out.
func optional(p param) param {
	p.required = false
	return p
}

func whole() map[string]any { return map[string]any{"type": "integer", "minimum": 0, "default": 0} }

// Values that several calls take.
var (
	elementParam = param{
		"g", "An element: its coordinates in the group's chart, separated by commas.", true,
		word(`^([-+0-9.eE]+(,[-+0-9.eE]+)*)?$`),
	}
	metricParam = param{
		"metric", "A metric, by its name or its number; the first one if it is left out.", false,
		map[string]any{"type": "string", "maxLength": 200},
	}
	modelsParam = param{
		"models", "Numbers of models, separated by commas; all if it is left out.", false,
		word(`^[0-9]{1,9}(,[0-9]{1,9})*$`),
	}
	sliceParam = param{
		"slice", "The name of a kept slice or of a class; not together with set.", false,
		map[string]any{"type": "string", "minLength": 1, "maxLength": maxName},
	}
	setParam  = param{"set", "A Set as JSON; not together with slice.", false, map[string]any{"type": "string"}}
	seedParam = param{"seed", "Decides every random choice.", false, whole()}
)

func ok(body any, doc string) []answer { return []answer{{http.StatusOK, typeJSON, doc, body}} }

func arrays(doc string) []answer { return []answer{{http.StatusOK, typeArrays, doc, nil}} }

// routesTable is every call.
func routesTable() []route {
	kinds := func() (all []answer) {
		for _, f := range table.Formats() {
			all = append(all, answer{http.StatusOK, bare(f.Type()), "The table as " + string(f) + ".", nil})
		}
		return all
	}()
	return []route{
		{
			method: "GET", path: "runs", name: "runs", doc: "What the server shows.",
			answers: ok(api.Runs{}, "Every run and audit."), do: (*Server).getRuns,
		},
		{
			method: "GET", path: "runs/{id}", name: "run",
			doc:     "A run, or two side by side as A+B: everything but the numbers of the samples.",
			answers: ok(api.Run{}, "The run."), do: (*Server).getRun,
		},
		{
			method: "GET", path: "runs/{id}/samples", name: "samples",
			doc:     "The columns of the table of samples that do not depend on a metric.",
			answers: ok(api.Samples{}, "The samples."), do: (*Server).getSamples,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}", name: "sample",
			doc:     "The whole orbit of one sample, exactly.",
			answers: ok(api.Sample{}, "The sample."), do: (*Server).getSample,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/input", name: "input", doc: "The moved input; no model runs.",
			query: []param{elementParam, {"dtype", "u8 scales lo to hi to 0 to 255.", false, oneOf("u8", "f32")}},
			answers: arrays("Tensor input, H x W x C, or T x H x W x C of frames; metadata lo, hi, exact, element, " +
				"g, sample."), do: (*Server).getInput,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/context", name: "context",
			doc: "The sample before it is moved, with the place of the crop window; no model runs.",
			answers: arrays("Tensor context, H x W x C, or T x H x W x C of frames; metadata lo, hi, sample, window: " +
				"left, top, width and height at the identity, empty without one."), do: (*Server).getContext,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/boxes", name: "boxes",
			doc:   "The boxes that were recorded at an element of the plan; no model runs.",
			query: []param{elementParam}, answers: ok(api.Boxes{}, "The boxes of every model."), do: (*Server).getBoxes,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/thumb.png", name: "thumb",
			doc:     "The input as a small picture, at the identity or at an element.",
			query:   []param{optional(elementParam)},
			answers: []answer{{http.StatusOK, typePNG, "At most 64 pixels wide and high.", nil}},
			do:      (*Server).getThumb,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/probe", name: "probe",
			doc: "The models' answers at any element, now. It ends with its request. Of the calls that read, only a " +
				"report runs models too.",
			query: []param{
				elementParam, modelsParam,
				{"seq", "Comes back in the metadata.", false, word(`^[0-9]{1,20}$`)},
				{"ref", "Of fields, the reference that is sent: target, self or consensus; the first that there is " +
					"of target, consensus and self if it is left out.", false, word(`^(target|self|consensus)?$`)},
			},
			answers: arrays("Tensors input and, for every model m, values.m, top.m, and as the output is " +
				"probabilities.m, logits.m, output.m, reference.m, boxes.m with boxes.target.m, boxes.self.m and " +
				"boxes.consensus.m, or field.m with reference.m; metadata seq, sample, g, element, exact, models, " +
				"milliseconds, support.m, and of boxes width and height."), do: (*Server).getProbe,
		},
		{
			method: "GET", path: "runs/{id}/samples/{i}/errors", name: "errors",
			doc: "Where the models' fields are wrong at any element, as small maps, now. It runs models as a probe " +
				"does.",
			query: []param{
				elementParam, modelsParam,
				{"ref", "The reference: target, self or consensus; the first that there is of target, consensus and " +
					"self if it is left out.", false, word(`^(target|self|consensus)?$`)},
			},
			answers: arrays("For every model m with a reference the tensor errors.m, at most 64 on a side: the " +
				"end-point error, mean over blocks of pixels; metadata sample, g, element, errors.m.mean over all " +
				"pixels, errors.m.ref."), do: (*Server).getErrors,
		},
		{
			method: "GET", path: "runs/{id}/arrays/{name}", name: "array", doc: "An array of Run.arrays.",
			query: []param{{
				"dtype",
				"f32 is exact; u8 is linear over lo to hi of the metadata, 0 to 254, and 255 for what is missing.",
				false, oneOf("f32", "u8"),
			}, {
				"rows", "lo-hi: rows from lo to before hi; all if it is left out.", false,
				word(`^[0-9]{1,9}-[0-9]{1,9}$`),
			}},
			answers: arrays("The tensor has the name of the array; samples.M.K has tensors mean, sd, min, max, " +
				"identity and worst."), do: (*Server).getArray,
		},
		{
			method: "POST", path: "runs/{id}/aggregate", name: "aggregate", doc: "The curves of a set of samples.",
			body: api.AggregateRequest{}, answers: ok(api.Aggregate{}, "The curves."), do: (*Server).postAggregate,
		},
		{
			method: "POST", path: "runs/{id}/turns", name: "turns",
			doc:  "Which classes turn into which when samples are moved.",
			body: api.TurnsRequest{}, answers: ok(api.Turns{}, "The classes."), do: ask((*shelf.Run).Turns),
		},
		{
			method: "POST", path: "runs/{id}/models", name: "models",
			doc:  "Every model by every metric, with paired differences to one of them.",
			body: api.ModelsRequest{}, answers: ok(api.Models{}, "The table."), do: ask((*shelf.Run).ModelTable),
		},
		{
			method: "POST", path: "runs/{id}/search", name: "search",
			doc:  "Slices on which a model is worse than on the other samples.",
			body: api.SearchRequest{}, answers: ok(api.Search{}, "The slices."), do: ask((*shelf.Run).Search),
		},
		{
			method: "POST", path: "runs/{id}/select", name: "select", doc: "Which samples a set chooses.",
			body:    api.Set{},
			answers: ok(api.Selected{}, "The samples."), do: (*Server).postSelect,
		},
		{
			method: "GET", path: "runs/{id}/embedding", name: "embedding",
			doc: "The samples in two dimensions, or the task that computes it: ask the same again.",
			query: []param{
				{
					"method", "One of Run.methods; the first one if it is left out.", false,
					map[string]any{"type": "string", "maxLength": 40},
				},
				metricParam, modelsParam, sliceParam, setParam,
				seedParam,
			},
			answers: append(arrays(
				"Tensor xy, N x 2, NaN where there is none; metadata axes and notes (JSON lists), fitted, placed, "+
					"missing."), answer{http.StatusAccepted, typeJSON, "It is being computed.", api.Task{}}),
			do: (*Server).getEmbedding,
		},
		{
			method: "GET", path: "runs/{id}/slices", name: "slices", doc: "The kept slices, with an ETag.",
			answers: ok(api.Slices{}, "The slices."), do: (*Server).getSlices,
		},
		{
			method: "PUT", path: "runs/{id}/slices", name: "putSlices",
			doc: "Keeps slices. If-Match names the ETag of those that they replace.", body: api.Slices{},
			answers: ok(api.Slices{}, "The slices as they are kept, with their ETag."), do: (*Server).putSlices,
		},
		{
			method: "GET", path: "runs/{id}/remarks", name: "remarks",
			doc:     "What people say of the run: its name, notes and tags of its samples, with an ETag.",
			answers: ok(api.Remarks{}, "The remarks."), do: (*Server).getRemarks,
		},
		{
			method: "PUT", path: "runs/{id}/remarks", name: "putRemarks",
			doc: "Keeps remarks. If-Match names the ETag of those that they replace.", body: api.Remarks{},
			answers: ok(api.Remarks{}, "The remarks as they are kept, with their ETag."), do: (*Server).putRemarks,
		},
		{
			method: "POST", path: "runs/{id}/job", name: "goOn", doc: "Goes on with an unfinished run.",
			answers: []answer{{http.StatusAccepted, typeJSON, "It is going on.", api.Task{}}}, do: (*Server).postJob,
		},
		{
			method: "DELETE", path: "runs/{id}/job", name: "stopRun",
			doc:     "Stops a run that this server goes on with; what is under way is kept.",
			answers: []answer{{http.StatusAccepted, typeJSON, "It is stopping.", api.Task{}}}, do: (*Server).deleteJob,
		},
		{
			method: "DELETE", path: "tasks/{task}", name: "cancel", doc: "Cancels a task.",
			answers: ok(api.Task{}, "The task."), do: (*Server).deleteTask,
		},
		{
			method: "GET", path: "audits/{id}", name: "audit",
			doc:     "What an audit found, and where its places lie in the runs.",
			answers: ok(api.Findings{}, "The findings."), do: (*Server).getAudit,
		},
		{
			method: "GET", path: "sheets/{id}", name: "sheet",
			doc: "What nero repair, discover, data, watch, weights, embed or repeat wrote, or what follows from " +
				"the answers to nero identify.",
			answers: ok(api.OpenSheet{}, "The sheet."), do: (*Server).getSheet,
		},
		{
			method: "POST", path: "identify", name: "identify",
			doc:  "Which symmetries follow from answers to plain questions, and which questions are left.",
			body: api.IdentifyRequest{}, answers: ok(api.Identified{}, "The questions and what follows."),
			do: (*Server).postIdentify,
		},
		{
			method: "GET", path: "events", name: "events", doc: "Server-sent events, each with an Event as its data.",
			answers: []answer{{http.StatusOK, typeEvents, "A stream that does not end.", nil}}, do: (*Server).events,
		},
		{
			method: "GET", path: "runs/{id}/export/{file}", name: "export",
			doc: "A table to keep: the file is TABLE.FORMAT.",
			query: []param{
				metricParam, sliceParam, setParam,
				{"i", "The sample of orbit.", false, whole()},
				{"a", "The first model of compare, the one that models compares with.", false, whole()},
				{"against", "Of confusion: what samples are sorted by.", false, oneOf("truth", "self")},
				{
					"of", "Of search: what is worse, the mean over the orbit or what moving changes.", false,
					oneOf("mean", "change"),
				},
				{
					"b", "The second model of compare.", false,
					map[string]any{"type": "integer", "minimum": 0, "default": 1},
				},
			},
			answers: kinds, do: (*Server).getExport,
		},
		{
			method: "GET", path: "runs/{id}/report", name: "report",
			doc: "The interface with the run inside, as one HTML file.",
			query: []param{
				metricParam, sliceParam,
				{"budget", "The largest size of the file, such as 5MB.", false, word(`^[0-9.]+ *[kKmMgG]?[bB]?$`)},
				{"seed", "Decides which samples are kept beside the worst ones.", false, whole()},
			},
			answers: []answer{{http.StatusOK, bare(typeHTML), "The page.", nil}}, do: (*Server).getReport,
		},
		{
			method: "GET", path: "openapi.json", name: "openapi", doc: "This document.",
			answers: []answer{{http.StatusOK, typeJSON, "The document.", map[string]any{}}},
			do: func(_ *Server, w http.ResponseWriter, r *request) error {
				return send(w, r.Request, http.StatusOK, typeJSON, "", openAPI)
			},
		},
	}
}
