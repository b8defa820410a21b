package shelf

import (
	"encoding/json"
	"testing"

	"nero/audit/document"
)

func TestWithoutFolders(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"folders of files": {
			`{"models":[{"about":[{"name":"file","value":"/home/ann/models/net.onnx"},{"name":"data","value":"C:\\photos\\a.npy"}],"error":"/home/ann/models/net.onnx: C:\\photos\\a.npy is gone"}]}`,
			`{"models":[{"about":[{"name":"file","value":"net.onnx"},{"name":"data","value":"a.npy"}],"error":"net.onnx: a.npy is gone"}]}`,
		},
		"layers are no paths": {
			`{"models":[{"about":[{"name":"file","value":"/m/net.onnx"}],"answers":["/conv1/Conv (Conv) is the first layer that breaks"],"checks":[{"findings":[{"location":"/conv1/Conv"}]}]}]}`,
			`{"models":[{"about":[{"name":"file","value":"net.onnx"}],"answers":["/conv1/Conv (Conv) is the first layer that breaks"],"checks":[{"findings":[{"location":"/conv1/Conv"}]}]}]}`,
		},
		"commands": {
			`{"models":[{"command": "nero audit /home/ann/study.yaml -o '/home/ann/out' --layer /conv1/Conv --layer=/fc/Gemm","worst_cases":[{"replay":"nero audit C:\\work\\study.yaml --replay a/b@90"}]}]}`,
			`{"models":[{"command": "nero audit study.yaml -o 'out' --layer /conv1/Conv --layer=/fc/Gemm","worst_cases":[{"replay":"nero audit study.yaml --replay a/b@90"}]}]}`,
		},
		"a file at the top": {
			`{"models":[{"about":[{"name":"file","value":"/net.onnx"},{"name":"platform","value":"linux/amd64"}],"answers":["/a/b"]}]}`,
			`{"models":[{"about":[{"name":"file","value":"/net.onnx"},{"name":"platform","value":"linux/amd64"}],"answers":["/a/b"]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d document.Audit
			if err := json.Unmarshal([]byte(c.in), &d); err != nil {
				t.Fatal(err)
			}
			got := withoutFolders([]byte(c.in), &d)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if !json.Valid(got) {
				t.Error("that is no JSON any more")
			}
		})
	}
}
