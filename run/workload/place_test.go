package workload

import (
	"context"
	"strings"
	"testing"

	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/run/job"
)

// built is an engine with providers that opens nothing.
type built struct {
	engine.Engine
	has []string
}

func (b built) Info() engine.Info {
	return engine.Info{Name: "native", Version: "1.30.0", Path: "/lib/x.so"}
}
func (b built) Providers() []string { return b.has }

// Where models run: what is said beside the study wins over the study, and what a model says over what all say.
func TestPlaces(t *testing.T) {
	const vino = "openvino:device_type=CPU,num_of_threads=1,num_streams=1,precision=FP32"
	const nvidia = "cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0"
	file := func(providers ...string) job.Model { return job.Model{ONNX: "m.onnx", Providers: providers} }
	away := job.Model{Endpoint: "grpc://127.0.0.1:9/m"}
	for name, c := range map[string]struct {
		flag, study []string
		models      []job.Model
		// of all, of each beside that, of the job's study
		all, each, kept string
		needed          int
	}{
		"nothing": {models: []job.Model{file(), file()}, each: ",", needed: 1},
		"the study": {
			study: []string{"openvino"}, models: []job.Model{file(), file()},
			all: vino, each: ",", kept: "openvino", needed: 1,
		},
		"one model": {models: []job.Model{file(), file("cuda", "cpu")}, each: "," + nvidia + "+cpu", needed: 2},
		"one model not": {
			study: []string{"cuda"}, models: []job.Model{file("cpu"), file()},
			all: nvidia, each: "cpu,", kept: "cuda", needed: 2,
		},
		"the flag": {
			flag: []string{"cuda:device_id=1"}, study: []string{"openvino"},
			models: []job.Model{file("openvino"), file()}, all: nvidia, each: ",", kept: nvidia, needed: 1,
		},
		"the flag says no": {
			flag: []string{"cpu"}, study: []string{"openvino"}, models: []job.Model{file("cuda")}, needed: 1,
		},
		"some elsewhere": {
			study: []string{"cuda"}, models: []job.Model{away, file()},
			all: nvidia, each: "cpu,", kept: "cuda", needed: 1,
		},
		"all elsewhere": {models: []job.Model{away}, needed: 0},
	} {
		w := &Workload{Study: &job.Study{Providers: c.study, Models: c.models}}
		p, err := w.place(Options{Providers: c.flag})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var each []string
		for i := range c.models {
			each = append(each, p.of(i))
		}
		if p.all.String() != c.all || strings.Join(each, ",") != c.each ||
			strings.Join(w.Study.Providers, " ") != c.kept || len(p.needed(w.Study.Models)) != c.needed {
			t.Errorf("%s: %q, %q, kept %q, %d lists", name, p.all, each, w.Study.Providers,
				len(p.needed(w.Study.Models)))
		}
	}
	for name, c := range map[string]struct {
		flag, study []string
		model       job.Model
		want        string
	}{
		"an unknown one":       {study: []string{"gpu"}, model: file(), want: "providers: there is no"},
		"an unknown flag":      {flag: []string{"gpu"}, model: file(), want: "--provider: there is no"},
		"an unknown of one":    {model: file("gpu"), want: "models[0].providers: there is no"},
		"none to run":          {study: []string{"cuda"}, model: away, want: "providers: cuda is for models in files"},
		"none to run, flag":    {flag: []string{"cuda"}, model: away, want: "--provider: cuda is for models in files"},
		"a place of a machine": {study: []string{"openvino:cache_dir=/tmp"}, model: file(), want: "a study must not"},
	} {
		w := &Workload{Study: &job.Study{Providers: c.study, Models: []job.Model{c.model}}}
		if _, err := w.place(Options{Providers: c.flag}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The engine is asked for all that the models need, and one that is handed in has to have it.
func TestStartOnPlaces(t *testing.T) {
	s := &job.Study{Models: []job.Model{{ONNX: "a.onnx", Providers: []string{"cuda"}}, {ONNX: "b.onnx"}}}
	w := &Workload{Study: s}
	asked := 0
	o := Options{OpenEngine: func(_ context.Context, on []provider.List) (engine.Engine, error) {
		asked = len(on)
		return built{has: []string{"CUDAExecutionProvider", "CPUExecutionProvider"}}, nil
	}}
	var err error
	if w.places, err = w.place(o); err != nil {
		t.Fatal(err)
	}
	if err := w.start(t.Context(), make([]file, 2), &o); err != nil || asked != 2 {
		t.Errorf("%d lists (%v)", asked, err)
	}
	for has, want := range map[string]string{
		"CUDAExecutionProvider": "", "CPUExecutionProvider": "has no provider cuda",
	} {
		w := &Workload{Study: s, places: w.places}
		err := w.start(t.Context(), make([]file, 2), &Options{Engine: built{has: []string{has}}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", has, err)
		}
	}
}
