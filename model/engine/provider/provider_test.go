package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
		plain bool
	}{
		{nil, "", true},
		{[]string{"cpu"}, "", true},
		{[]string{"CPUExecutionProvider"}, "", true},
		{[]string{"openvino"}, "openvino:device_type=CPU,num_of_threads=1,num_streams=1,precision=FP32", false},
		{
			[]string{" OpenVINO : device_type = GPU.1 "},
			"openvino:device_type=GPU.1,num_of_threads=1,num_streams=1,precision=FP32", false,
		},
		{ // what has no = goes on with the value before it
			[]string{"openvino:device_type=HETERO:GPU,CPU,num_of_threads=2"},
			"openvino:device_type=HETERO:GPU,CPU,num_of_threads=2,num_streams=1,precision=FP32", false,
		},
		{ // where and with how much memory is no part of what a run is
			[]string{"openvino:cache_dir=/tmp/x"},
			"openvino:device_type=CPU,num_of_threads=1,num_streams=1,precision=FP32", false,
		},
		{[]string{"CUDAExecutionProvider"}, "cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0", false},
		{[]string{"cuda:device_id=3,use_tf32=0"}, "cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0", false},
		{
			[]string{"tensorrt+cuda+cpu"},
			"tensorrt:trt_fp16_enable=0,trt_int8_enable=0+cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0+cpu", false,
		},
		{
			[]string{"tensorrt", "cuda", "cpu"},
			"tensorrt:trt_fp16_enable=0,trt_int8_enable=0+cuda:cudnn_conv_algo_search=DEFAULT,use_tf32=0+cpu", false,
		},
		{[]string{"rocm"}, "rocm", false},
		{
			[]string{"coreml"},
			"coreml:AllowLowPrecisionAccumulationOnGPU=0,MLComputeUnits=CPUAndGPU,ModelFormat=MLProgram", false,
		},
	} {
		l, err := Parse(c.texts...)
		if err != nil || l.String() != c.want || l.Plain() != c.plain {
			t.Errorf("%q: %q, plain %t (%v)\nwant %q, %t", c.texts, l, l.Plain(), err, c.want, c.plain)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no execution provider \"\"",
		"cuda+":                                  "no execution provider \"\"",
		"gpu":                                    "expected one of openvino, cuda",
		"opnvino":                                `no execution provider "opnvino"`,
		"wasm":                                   "no execution provider",
		"cpu+cuda":                               "put cpu last",
		"cpu:threads=2":                          "no options",
		"cuda+cuda":                              "there twice",
		"cuda:":                                  "is no option",
		"cuda:,":                                 "is no option",
		"cuda:device_id":                         "is no option",
		"cuda:=1":                                "is no option",
		"cuda:device_id=":                        "is no option",
		"cuda:device_id=1,device_id=2":           "device_id is there twice",
		"cuda:devic_id=1":                        `did you mean "device_id"?`,
		"cuda:use_tf32=1":                        "10 bits",
		"cuda:cudnn_conv_algo_search=EXHAUSTIVE": "how long it took",
		"tensorrt:trt_fp16_enable=1":             "trt_fp16_enable=1 is refused",
		"tensorrt:trt_bf16_enable=True":          "is refused",
		"openvino:precision=FP16":                "expected FP32",
		"openvino:precision=ACCURACY":            "expected FP32",
		"openvino:device_type=NPU":               "refused",
		"openvino:device_type=auto:GPU":          "refused",
		"openvino:load_config=x.json":            "there is no option \"load_config\"",
		"coreml:MLComputeUnits=ALL":              "Neural Engine",
		"openvino:device_type=C\nPU":             "one line",
		"cuda:" + strings.Repeat("x", 2000):      "bytes",
	} {
		if l, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.60q: %q (%v), want %q", text, l, err, want)
		}
	}
}

// What a list is kept as gives the list back, for every provider and as often as one likes.
func TestTheKeptTextIsRead(t *testing.T) {
	for _, p := range all() {
		for _, text := range []string{p.Name, p.Full, p.Name + "+cpu"} {
			l, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(l.String())
			if err != nil || !again.Equal(l) || again.Fallback != l.Fallback {
				t.Errorf("%s: %q and %q (%v)", text, l, again, err)
			}
		}
		if p.Full == "" || p.Source == "" || !strings.HasSuffix(p.Full, suffix) || p.Name != strings.ToLower(p.Name) {
			t.Errorf("%+v", p)
		}
		for _, o := range p.Options {
			if (o.Only != nil || o.Not != nil) && o.Why == "" {
				t.Errorf("%s: %s refuses values and does not say why", p.Name, o.Name)
			}
			if o.Preset != "" && o.allows(o.Preset) != nil {
				t.Errorf("%s: the preset of %s is refused", p.Name, o.Name)
			}
		}
	}
}

// A study that somebody sent loads no file and writes none.
func TestAStudyNamesNoPlaces(t *testing.T) {
	for _, text := range []string{
		"openvino:cache_dir=/tmp/x", "qnn:backend_path=/tmp/x.so", "tensorrt:trt_engine_cache_path=/tmp+cuda",
		"cuda+tensorrt:trt_timing_cache_path=x", "coreml:ModelCacheDirectory=x", "migraphx:migraphx_model_cache_dir=x",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("on the command line: %v", err)
		}
		if l, err := Said(text); err == nil || !strings.Contains(err.Error(), "when the study is run") {
			t.Errorf("%s: %q (%v)", text, l, err)
		}
	}
	if l, err := Said("cuda:device_id=1", "cpu"); err != nil || !l.Fallback {
		t.Errorf("%q (%v)", l, err)
	}
	if _, err := Said("gpu"); err == nil {
		t.Error("what nobody knows is read")
	}
	for _, p := range all() {
		for _, o := range p.Options {
			n := strings.ToLower(o.Name)
			if (strings.Contains(n, "path") || strings.Contains(n, "dir")) && !o.Path {
				t.Errorf("%s: %s sounds like a place on a disk", p.Name, o.Name)
			}
		}
	}
}

func TestLacks(t *testing.T) {
	l, err := Parse("tensorrt+cuda")
	if err != nil {
		t.Fatal(err)
	}
	has := []string{"TensorrtExecutionProvider", "CPUExecutionProvider"}
	p, lacks := l.Lacks(has)
	if !lacks || p.Name != "cuda" {
		t.Errorf("%v, %t", p.Name, lacks)
	}
	text := (&LackError{Library: "/lib/x.so", Version: "1.27.0", Provider: p, Has: has}).Error()
	for _, want := range []string{"/lib/x.so", "1.27.0", "no provider cuda", "has tensorrt, cpu", "pip install"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if _, lacks := l.Lacks(append(has, "CUDAExecutionProvider")); lacks {
		t.Error("it has both")
	}
	got := strings.Join(Short([]string{"DmlExecutionProvider", "NewExecutionProvider"}), " ")
	if got != "directml new" {
		t.Errorf("%q", got)
	}
}

func TestPlacement(t *testing.T) {
	var p Placement
	if !strings.Contains(p.String(), "1.24") {
		t.Errorf("%q", p)
	}
	for _, op := range []string{"Relu", "Conv", "Relu"} {
		p.Add("OpenVINOExecutionProvider", op)
	}
	if got := p.String(); got != "all 3 nodes on openvino" {
		t.Errorf("%q", got)
	}
	for _, op := range []string{"TopK", "NonMaxSuppression"} {
		p.Add("CPUExecutionProvider", op)
	}
	if got := p.String(); got != "nodes: 3 on openvino, 2 on cpu (NonMaxSuppression, TopK)" {
		t.Errorf("%q", got)
	}
	l, err := Parse("openvino")
	if err != nil {
		t.Fatal(err)
	}
	for want, e := range map[string]*FallbackError{
		"2 nodes (NonMaxSuppression, TopK) would run on the processor": {List: l, Placement: p},
		"some nodes would run on the processor":                        {List: l},
	} {
		text := e.Error()
		if !strings.Contains(text, want) || !strings.Contains(text, "openvino+cpu") || !IsFallback(e) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	e := &FallbackError{List: l, Placement: p}
	if IsFallback(nil) || IsFallback(errors.New(e.Error())) || !IsFallback(fmt.Errorf("opening: %w", e)) {
		t.Error("words make no refusal")
	}
	var over FallbackError
	if b, err := json.Marshal(e); err != nil || json.Unmarshal(b, &over) != nil || over.Error() != e.Error() {
		t.Errorf("%q came over as %q", e, &over)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"cpu", "openvino+cpu", "openvino:device_type=HETERO:GPU,CPU,precision=FP32", "cuda:device_id=1",
		"tensorrt+cuda",
		"tensorrt:trt_profile_min_shapes=x:1x3,y:2x4", "+", ":", "=", "cuda:=,", "cuda:device_id=\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1<<10 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(l.String())
		if l.Plain() {
			if l.String() != "" || l.Fallback {
				t.Errorf("%q: %+v", text, l)
			}
			return
		}
		if err != nil || !again.Equal(l) {
			t.Errorf("%q: %q, read again %q (%v)", text, l, again, err)
		}
	})
}
