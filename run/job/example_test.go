package job_test

import (
	"fmt"

	"nero/run/job"
)

// A study is read strictly: every mistake is named with its line and what to do about it.
func ExampleParseStudy() {
	_, err := job.ParseStudy("study.yaml", []byte(`version: 1
data: {images: digits, fromat: idx}
models: [mnist.onnx]
group: C4
`))
	fmt.Println(err)
	s, err := job.ParseStudy("study.yaml", []byte("version: 1\ndata: digits\nmodels: mnist.onnx\ngroup: C4\n"))
	fmt.Println(s.Data.Images, s.Models[0].Name, s.Group.Name, err)
	// Output:
	// study.yaml:2:24: data.fromat: unknown key; did you mean "format"?
	// digits mnist C4 <nil>
}

// A study may name what the program adds.
func ExampleWords() {
	text := []byte("version: 1\ndata: {images: strings, format: beads}\nmodels: toy.onnx\n")
	_, err := job.ParseStudy("study.yaml", text)
	fmt.Println(err != nil)
	s, err := job.ParseStudy("study.yaml", text, job.Words{Formats: []string{"beads"}})
	fmt.Println(s.Data.Format, err)
	// Output:
	// true
	// beads <nil>
}
