package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nero/app"
	"nero/model/engine/remote/remotetest"
	"nero/run/job"
	"nero/studies/digits"
)

// must ends an example that cannot go on.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// scratch is a folder for an example. Call done when the example is over.
func scratch() (dir string, done func()) {
	dir = must(os.MkdirTemp("", "example-"))
	return dir, func() { must(0, os.RemoveAll(dir)) }
}

// quarter is a study in a folder: how a network that saw upright digits alone responds to six digits in quarter turns.
func quarter(dir string) *job.Study {
	if err := os.CopyFS(dir, digits.Files); err != nil {
		panic(err)
	}
	s := must(new(app.App).OpenStudy(filepath.Join(dir, "demo.yaml")))
	s.Models = s.Models[:1]
	s.Group = job.Group{Name: "C4"}
	s.Data.Limit, s.Data.Balance = 6, ""
	s.Audit.Checks = []string{"lattice"}
	return s
}

// wasm is the engine of the examples, whose numbers are the same on every machine.
func wasm() app.Engine { return app.Engine{Kind: "wasm"} }

// A run measures every sample at every element and keeps the curves; the table has their means.
func Example() {
	dir, done := scratch()
	defer done()
	s := quarter(filepath.Join(dir, "study"))
	s.Metrics = []string{"confidence"}

	var a app.App
	r, err := a.Run(context.Background(), s, app.RunOptions{
		Engine: wasm(), Dir: filepath.Join(dir, "run"), Workers: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := r.Summary.Curve(0, 0, 0) // of the first model and metric, over all samples
	for k, g := range r.Summary.Elements {
		fmt.Printf("%3.0f degrees: %.2f sure of the right digit\n", g[0], c.Mean[k])
	}
	// Output:
	// 0 degrees: 1.00 sure of the right digit
	//  90 degrees: 0.18 sure of the right digit
	// 180 degrees: 0.27 sure of the right digit
	// 270 degrees: 0.08 sure of the right digit
}

// An audit judges. This network was never shown a turned digit, and fails.
func ExampleApp_Audit() {
	dir, done := scratch()
	defer done()

	a := app.App{Now: time.Now}
	r, err := a.Audit(context.Background(), quarter(dir), app.AuditOptions{Engine: wasm(), Workers: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.WriteBrief(os.Stdout); err != nil {
		fmt.Println(err)
	}
	fmt.Println("findings:", r.Outcome() == app.Findings)
	// Output:
	// original: FAIL
	//   At 90°, 180° and 270° the answers are off by 1.42 times their spread over the
	//     inputs (limit 0.0001). Nothing is interpolated there: it is the model.
	//   Not known: this audit did not look inside the model
	//
	// findings: true
}

// Events say what happens while it happens.
func ExampleEvent() {
	dir, done := scratch()
	defer done()

	a := app.App{Events: func(e app.Event) {
		if e.Kind == app.Started {
			fmt.Println(e.Task, "of", e.Model)
		}
		if e.Kind == app.Judged {
			fmt.Println(e.Check, "was", e.Text)
		}
	}}
	must(a.Audit(context.Background(), quarter(dir), app.AuditOptions{Engine: wasm(), Workers: 1}))
	// Output:
	// audit of original
	// sweep was tested
	// preflight was tested
	// controls was tested
	// lattice was tested
}

// A replay shows one number of an audit with all that it was made of.
func ExampleApp_Replay() {
	dir, done := scratch()
	defer done()

	var a app.App
	r, err := a.Replay(context.Background(), quarter(dir), app.Place{Sample: "0", At: []float64{90}},
		app.AuditOptions{Engine: wasm(), Workers: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	var text bytes.Buffer
	must(0, r.WriteText(&text))
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "top scores") {
			fmt.Print(line)
		}
	}
	// Output:
	// top scores unmoved  0: 9.46952, 6: -2.2457, 2: -2.39352
	//   top scores moved    0: 3.01614, 9: 2.7031, 8: -0.461276
}

// Two audits of one study are compared input by input. Here the network that saw turned digits stands in for a fix.
func ExampleApp_Compare() {
	dir, done := scratch()
	defer done()
	at := func(name string) string { return filepath.Join(dir, name) }

	var a app.App
	s := quarter(at("study"))
	all := must(new(app.App).OpenStudy(filepath.Join(at("study"), "demo.yaml"))).Models
	for i, name := range []string{"before", "after"} {
		s.Models = []job.Model{{Name: "digits", ONNX: all[i].ONNX}}
		r := must(a.Audit(context.Background(), s, app.AuditOptions{Engine: wasm(), Workers: 1}))
		must(0, r.Save(at(name), "json"))
	}
	c, err := a.Compare(at("before"), at("after"), app.CompareOptions{Allow: app.PresetAllow})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("worse:", c.Worse())
	// Output:
	// worse: false
}

// A table of a run goes into a file or to any writer.
func ExampleApp_Export() {
	dir, done := scratch()
	defer done()
	run := filepath.Join(dir, "run")

	var a app.App
	must(a.Run(context.Background(), quarter(filepath.Join(dir, "study")), app.RunOptions{
		Engine: wasm(), Dir: run, Workers: 1,
	}))
	var csv bytes.Buffer
	if err := a.Export(context.Background(), []string{run}, app.ExportOptions{Table: "samples", To: &csv}); err != nil {
		fmt.Println(err)
		return
	}
	head, rows, _ := strings.Cut(csv.String(), "\n")
	fmt.Println(head)
	fmt.Println(strings.Count(rows, "\n"), "rows")
	// Output:
	// index,sample,label,model,metric,mean,sd,min,max,identity,correlation,similarity,worst_element,worst_ties,error
	// 6 rows
}

// A model can be read without being run.
func ExampleApp_Inspect() {
	dir, done := scratch()
	defer done()
	s := quarter(dir)

	var a app.App
	r, err := a.Inspect(context.Background(), s.Models[0].ONNX, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Parameters, "parameters")
	// Output:
	// 48706 parameters
}

// Of a checkpoint and its canonical form, whose numbers differ, it is said that they are the same model.
func ExampleApp_Weights() {
	dir, done := scratch()
	defer done()
	file, moved := quarter(dir).Models[0].ONNX, filepath.Join(dir, "canonical.onnx")
	ctx, o := context.Background(), app.WeightsOptions{Engine: wasm(), Workers: 1, Seed: 7}

	var a app.App
	write := o
	write.Canonical, write.Out = true, moved
	must(a.Weights(ctx, []string{file}, write))
	r := must(a.Weights(ctx, []string{file, moved}, o))
	fmt.Println(r.Report.Verdict)
	// Output:
	// same up to symmetries
}

// A model that is asked in other words, and answers otherwise whoever says please.
func ExampleApp_Repeat() {
	dir, done := scratch()
	defer done()
	model := &remotetest.Texts{Answer: func(question string, _ int, _ map[string]any) (string, int) {
		if strings.HasPrefix(question, "please") {
			return "gladly", 0
		}
		return "Yes.", 0
	}}
	server := model.Start()
	defer server.Close()
	list := bytes.NewBufferString("object,view,value\n")
	for i := range 100 {
		fmt.Fprintf(list, "%d,plain,is %d a number?\n%d,polite,please: is %d a number?\n", i, i, i, i)
	}
	file := filepath.Join(dir, "views.csv")
	must(0, os.WriteFile(file, list.Bytes(), 0o600))
	s := &job.Study{
		Version: 1, Models: []job.Model{{Name: "model", Endpoint: server.URL + "/model"}}, Data: job.Data{Views: file},
		Repeat: job.Repeat{Times: 2, Normalise: []string{"trim", "case"}},
	}

	r := must(new(app.App).Repeat(context.Background(), s, app.RepeatOptions{Workers: 2}))
	v := r.Report.Models[0].Given[0]
	fmt.Println(r.Report.Verdict, v.Name, v.State, v.Difference.Value)
	// Output:
	// FAIL polite differs 1
}

// The scores of a network that saw upright digits alone do not stay where they are when digits turn.
func ExampleApp_Embed() {
	dir, done := scratch()
	defer done()
	s := quarter(dir)
	s.Data.Limit = 60

	var a app.App
	o := app.EmbedOptions{Engine: wasm(), Workers: 1, What: []string{"split"}}
	r := must(a.Embed(context.Background(), s, o))
	m := r.Report.Models[0]
	fmt.Println(m.Width, "numbers:", len(m.Transformations), "turns,", m.State == "stay")
	// Output:
	// 10 numbers: 3 turns, false
}

// Checks that judge decide about the verdict; the others say where an error comes from, and why.
func ExampleApp_Checks() {
	for _, c := range must(new(app.App).Checks("lattice", "layers")) {
		fmt.Println(c.Name, c.Role)
	}
	// Output:
	// lattice judges
	// layers explains
}

// Export refuses what there is not before it opens anything, and says what was probably meant.
func ExampleTables() {
	var a app.App
	fmt.Println(a.Export(context.Background(), nil, app.ExportOptions{Table: "sample"}))
	fmt.Println(app.Tables())
	// Output:
	// --table: "sample" is not known; did you mean "samples"?
	// [aggregate samples orbit compare confusion models search remarks findings curves]
}

// A run is planned, worked on by any number of processes, and completed.
func ExampleApp_Plan() {
	dir, done := scratch()
	defer done()
	s := quarter(filepath.Join(dir, "study"))
	s.Metrics = []string{"confidence"}
	ctx, run := context.Background(), filepath.Join(dir, "run")

	var a app.App
	p := must(a.Plan(ctx, s, app.RunOptions{Engine: wasm(), Dir: run, Workers: 1}))
	fmt.Printf("shards %s of %d\n", p.Todo, p.Shards)
	_, err := a.Merge(ctx, run, app.MergeOptions{Workers: 1})
	if m, ok := errors.AsType[*app.MissingError](err); ok {
		fmt.Println("missing:", m.Indexes)
	}
	kept := func(k app.KeptShard) { fmt.Println("kept:", k.Shard) }
	for _, index := range []string{"4-5", "0,2", "1-3"} {
		if err := a.Shard(ctx, run, app.ShardOptions{Index: index, Workers: 1, Kept: kept}); err != nil {
			fmt.Println(err)
		}
	}
	r := must(a.Merge(ctx, run, app.MergeOptions{Workers: 1}))
	fmt.Printf("%.2f\n", r.Summary.Curve(0, 0, 0).Mean)
	// Output:
	// shards 0-5 of 6
	// missing: 0-5
	// kept: 4
	// kept: 5
	// kept: 0
	// kept: 2
	// kept: 2
	// kept: 1
	// kept: 3
	// [1.00 0.18 0.27 0.08]
}
