package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/data/split"
	"nero/internal/disk"
	"nero/present/words"
	"nero/repair"
	"nero/run/job"
	"nero/symmetry/group"
)

// RepairOptions say how models are repaired.
type RepairOptions struct {
	Engine Engine
	// Workers is how many goroutines run the models, at least 1. No number but times depends on it.
	Workers int
	// Only names the models of the study that are repaired; empty means all.
	Only []string
	// Methods are what is tried, as [repair.Parse] reads them; empty for all that fit.
	Methods []string
	// Most is how many elements a repaired model may be run at; below 1 for 8.
	Most int
	// Loss is how much accuracy may be lost without a word against it, as a share.
	Loss float64
	// Out is the file, for one model and one method, or else the folder that files are written to.
	Out string
	// Single repeats the body of a model for every element, as a model needs it that mixes the samples of a batch.
	Single bool
	// Forms are what the bills are written in beside the models, in a folder, by the names of [RepairForms]; JSON
	// always is. Empty for text.
	Forms []string
	// CPU is the processor time of this process, over all threads; nil where costs are only predicted.
	CPU func() time.Duration
}

// RepairForms are the names of the forms that a bill can be written in.
func RepairForms() []string {
	var names []string
	for _, f := range repair.Forms() {
		names = append(names, f.Name)
	}
	return names
}

// RepairSchema is the schema of repair.json.
func (a *App) RepairSchema() ([]byte, error) { return repair.Schema() }

// WriteRepair writes the bills in one form.
func WriteRepair(w io.Writer, r *repair.Report, form string) error {
	f, err := repair.ParseForm(form)
	if err != nil {
		return err
	}
	return f.Write(r, w)
}

// RepairMethods are the methods and their options, a line for each.
func RepairMethods() string { return repair.Help() }

// presetElements is how many elements a repaired model is run at most, unless more are asked for.
const presetElements = 8

// repairSamples is how many samples of each side a repair reads at most: a bill is measured on so many.
const repairSamples = 200

// Repair writes models that have the symmetry which the study claims, and says what each costs. Models that have it
// already are left alone. A defect of one model or method is in the result; the error is for what ends all of it.
func (a *App) Repair(ctx context.Context, s *job.Study, o RepairOptions) (*repair.Report, error) {
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	var methods []repair.Asked
	for _, text := range o.Methods {
		m, err := repair.Parse(text)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	if len(methods) == 0 {
		for _, m := range repair.Methods() {
			asked, err := repair.Parse(m.Name)
			if err != nil {
				return nil, err
			}
			methods = append(methods, asked)
		}
	}
	if !(o.Loss >= 0 && o.Loss <= 1) {
		return nil, fmt.Errorf("%s is %g, want a share of the samples, from 0 to 1, such as 0.01",
			a.option("allow-accuracy"), o.Loss)
	}
	one := len(s.Models) == 1 && len(methods) == 1 && len(o.Methods) == 1
	if o.Out == "" {
		return nil, errors.New("nothing says where to write: name a file or a folder with " + a.option("out"))
	}
	if strings.EqualFold(filepath.Ext(o.Out), ".onnx") != one {
		if one {
			return nil, fmt.Errorf("%s: one model repaired by one method is one file: give it a name that ends in "+
				".onnx",
				o.Out)
		}
		return nil, fmt.Errorf("%s: %s and %s are a folder of files: name a folder, or one method with %s", o.Out,
			words.Plural(len(s.Models), "model", "models"), words.Plural(len(methods), "method", "methods"),
			a.option("method"))
	}
	if err := o.apart(s, methods, one); err != nil {
		return nil, err
	}
	for _, name := range o.Forms {
		if _, err := repair.ParseForm(name); err != nil {
			return nil, fmt.Errorf("%s: %w", a.option("format"), err)
		}
	}
	if s.Data.Side != "" {
		return nil, fmt.Errorf("a repair divides the samples itself into those to learn from, to choose by and to "+
			"report "+
			"on: leave out %s", a.option("side"))
	}
	if err := o.writable(one); err != nil {
		return nil, err
	}
	study := *s // before defaults are filled in, for the audits
	study.Data.Side = string(split.Confirm)
	if err := lawful(s, "repair"); err != nil {
		return nil, err
	}
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	elements, endless := o.elements(a, w.Group())
	if elements == nil {
		elements = drawn(w.Group(), s.Seed)
	}
	b := billing{app: a, o: o, w: w, study: study, elements: elements, endless: endless, one: one}
	if err := b.read(); err != nil {
		return nil, err
	}
	out := &repair.Report{
		Format: repair.FormatNumber, Group: w.Group().Name(), Elements: len(elements), Seed: w.Study.Split.Seed,
		Fit: len(b.fit), Choose: len(b.sets[split.Choose]), Samples: len(b.confirm.samples), Allow: o.Loss,
	}
	for _, m := range w.Eval.Models {
		r, err := b.model(ctx, m, methods)
		if err != nil {
			return nil, err
		}
		out.Models = append(out.Models, *r)
	}
	if one {
		return out, nil
	}
	forms := o.Forms
	if len(forms) == 0 {
		forms = []string{"text"}
	}
	if !slices.Contains(forms, "json") {
		forms = append(slices.Clone(forms), "json")
	}
	for _, name := range forms {
		f, err := repair.ParseForm(name)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := f.Write(out, &text); err != nil {
			return nil, err
		}
		if err := disk.Replace(disk.OS{}, filepath.Join(o.Out, "repair"+f.Ext), disk.Bytes(text.Bytes())); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writable sees to it that what is computed for minutes can be written then: the folder is there or can be made.
func (o *RepairOptions) writable(one bool) error {
	dir := o.Out
	if one {
		if info, err := os.Stat(o.Out); err == nil && info.IsDir() {
			return fmt.Errorf("-o %s is a folder, want a file", o.Out)
		}
		if dir = filepath.Dir(o.Out); dir != "." {
			if _, err := os.Stat(dir); err != nil {
				return fmt.Errorf("-o %s: %w: make the folder first", o.Out, err)
			}
		}
	}
	return writable(dir)
}

// file is where the model of a name is written as repaired by a method.
func (o *RepairOptions) file(model string, m repair.Asked, one bool) string {
	if one {
		return o.Out
	}
	return filepath.Join(o.Out, plainName(model+"-"+m.String())+".onnx")
}

// plainName is a name of a file, whatever stands in a name of a model or a method.
func plainName(name string) string {
	return strings.NewReplacer("/", "-", "\\", "-", ":", "-", ",", "-", "=", "-").Replace(name)
}

// apart sees to it that each file has a place of its own, and that none takes that of what it is made of.
func (o *RepairOptions) apart(s *job.Study, methods []repair.Asked, one bool) error {
	of := map[string]string{}
	for _, model := range s.Models {
		for _, m := range methods {
			file, what := o.file(model.Name, m, one), model.Name+" by "+m.String()
			if other, taken := of[strings.ToLower(file)]; taken {
				return fmt.Errorf("%s and %s would both be written to %s: ask for each once, by names that differ in "+
					"letters and digits", other, what, file)
			}
			of[strings.ToLower(file)] = what
			for _, read := range s.Models {
				if same(file, read.ONNX) {
					return fmt.Errorf("%s is the model %s itself, which would be lost: name another place for %s",
						file, read.Name, what)
				}
			}
		}
	}
	return nil
}

// same tells whether two names are those of one file that is there.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// measured is at how many elements a group without end, or with too many, is measured.
const measured = 12

// drawn are the identity and elements that are drawn, for the bill.
func drawn(g group.Group, seed uint64) []group.Element {
	out := []group.Element{g.Identity()}
	r := rand.New(rand.NewPCG(seed, 0x726570616972))
	for range measured - 1 {
		switch s := g.(type) {
		case group.Finite:
			all := s.Elements()
			out = append(out, all[1+r.IntN(len(all)-1)])
		case group.Sampler:
			out = append(out, s.Sample(r))
		}
	}
	return out
}

// elements are those of the group, which has to be finite and small enough for methods that need all of them.
func (o *RepairOptions) elements(a *App, g group.Group) ([]group.Element, error) {
	f, ok := g.(group.Finite)
	if !ok {
		if c := g.Chart(); len(c) == 1 && c[0].Circle() && c[0].Kind == group.KindTurn {
			return nil, fmt.Errorf("%s has no end of elements to ask a model at: name a finite part of it, such as "+
				"%s", g.Name(), a.speech().Option(Option{Name: "group", Value: "C4"}))
		}
		return nil, fmt.Errorf("%s has no end of elements, or more than can be listed, to ask a model at: name a "+
			"finite part of it, of those in 'nero groups'", g.Name())
	}
	all := f.Elements()
	if len(all) > o.most() {
		return nil, fmt.Errorf("%s has %d elements, so that a repaired model costs %d times as much; allow that "+
			"with %s, or "+
			"name a smaller group", g.Name(), len(all), len(all),
			a.speech().Option(Option{Name: "budget", Value: strconv.Itoa(len(all))}))
	}
	return all, nil
}

// most is the budget.
func (o *RepairOptions) most() int {
	if o.Most < 1 {
		return presetElements
	}
	return o.Most
}
