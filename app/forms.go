package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/baseline"
	"nero/audit/check/forms"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
)

// exported are the forms in which a model was exported, by their names, the first of which is the study's own model.
type exported []string

// forms adds the other forms of its one model to a study: files that read and answer the same. Which model of several,
// o.Only says.
func (o *AuditOptions) forms(s *job.Study) (exported, error) {
	if len(o.Forms) == 0 {
		return nil, only(s, o.Only)
	}
	var added []job.Model
	for _, file := range o.Forms {
		name := job.NameOf(file)
		if ext := filepath.Ext(file); !job.IsFile(file) || !strings.EqualFold(ext, ".onnx") {
			return nil, fmt.Errorf("--form %s: want an ONNX file (.onnx): the forms of a model are files that were "+
				"exported from it", file)
		}
		added = append(added, job.Model{Name: name, ONNX: file})
	}
	isForm := func(name string) bool {
		return slices.ContainsFunc(added, func(m job.Model) bool { return m.Name == name })
	}
	err := only(s, slices.DeleteFunc(slices.Clone(o.Only), isForm))
	if err != nil {
		return nil, err
	}
	if len(s.Models) != 1 {
		return nil, fmt.Errorf("--form is for one model, and the study has %d: choose it with --only, one of %s",
			len(s.Models), strings.Join(modelNames(s), ", "))
	}
	first := s.Models[0]
	if !first.IsFile() {
		return nil, fmt.Errorf("--form: %s is no file: the forms of a model are files; give the first of "+
			"them with --model FILE.onnx", first.Name)
	}
	all := []job.Model{first}
	for i, m := range added {
		of := first // how it is fed and read is that of the first
		of.Name, of.ONNX = m.Name, m.ONNX
		for k, p := range all {
			if p.Name != of.Name {
				continue
			}
			// Files of one name in several folders are told apart by their folders, else by their places in the list.
			of.Name = filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(m.ONNX)), m.Name))
			if k > 0 && filepath.Clean(p.ONNX) == filepath.Clean(m.ONNX) ||
				slices.ContainsFunc(all, func(q job.Model) bool { return q.Name == of.Name }) {
				of.Name = fmt.Sprintf("%s (form %d)", m.Name, i+2)
			}
			break
		}
		if err := alike(first.ONNX, of.ONNX); err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	s.Models = all
	return modelNames(s), nil
}

// choose leaves the one form that a replay is of: one that o.Only names, else the first.
func (e exported) choose(s *job.Study, o *AuditOptions) {
	if len(e) == 0 {
		return
	}
	at := 0
	for _, name := range o.Only {
		at = max(at, slices.Index(e, name))
	}
	s.Models = s.Models[at : at+1]
}

// alike refuses a form that reads or answers something else than the first.
func alike(first, form string) error {
	a, err := onnx.Read(first)
	if err != nil {
		return err
	}
	b, err := onnx.Read(form)
	if err != nil {
		return fmt.Errorf("--form: %w", err)
	}
	x, y := a.Signature(), b.Signature()
	if samePorts(x.Inputs, y.Inputs) && samePorts(x.Outputs, y.Outputs) {
		return nil
	}
	return fmt.Errorf("--form %s: it maps %s, and %s maps %s: the forms of one model read and answer the same. Export "+
		"it with the names, shapes and floating-point type of that model at its inputs and outputs (rounding inside "+
		"the graph), or audit it by itself: nero audit %s", form, signature(y), first, signature(x),
		audit.ShellQuote(form))
}

// signature is what a model reads and answers.
func signature(s onnx.Signature) string {
	list := func(ports []onnx.Port) string {
		var out []string
		for _, p := range ports {
			out = append(out, p.String())
		}
		return strings.Join(out, ", ")
	}
	return list(s.Inputs) + " to " + list(s.Outputs)
}

// samePorts reports whether two lists of ports hold values of the same shapes and sorts: names count where there are
// several, a free axis fits any length, and floating-point numbers may be of any width.
func samePorts(a, b []onnx.Port) bool {
	return slices.EqualFunc(a, b, func(p, q onnx.Port) bool {
		if len(a) > 1 && p.Name != q.Name || p.Kind != q.Kind ||
			p.DType != q.DType && (!floating(p.DType) || !floating(q.DType)) {
			return false
		}
		return !p.Ranked || !q.Ranked || slices.EqualFunc(p.Shape, q.Shape, func(x, y onnx.Dim) bool {
			return x.Free() || y.Free() || x.Size == y.Size
		})
	})
}

func floating(t tensor.DType) bool {
	return slices.Contains([]tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64}, t)
}

// equip gives the subject of the first form the others, to be compared with it.
func (e exported) equip(w *workload.Workload, s *audit.Subject, workers int) {
	if len(e) == 0 {
		return
	}
	if s.Cost = w.Cost[e[0]]; s.Name != e[0] { // no check takes fewer inputs of one form than of another
		return
	}
	s.Bytes = fileSize(w, s.Name)
	for _, m := range w.Eval.Models {
		if m.Name != s.Name {
			s.Forms = append(s.Forms, audit.Form{
				Name: m.Name, Bytes: fileSize(w, m.Name), Predictor: eval.Predictor{Model: m, Workers: workers},
			})
		}
	}
}

// fileSize is the length of the file of a model in bytes.
func fileSize(w *workload.Workload, model string) int64 {
	if f := w.File(model); f != nil {
		return int64(f.Size())
	}
	return 0
}

// suite is the same for all forms: as many inputs as the size of the first asks for, and the check that compares them.
func (e exported) suite(w *workload.Workload, checks []*audit.Check) []*audit.Check {
	if len(e) == 0 {
		return checks
	}
	if w.Study.Audit.Samples == 0 {
		w.Study.Audit.Samples, _ = audit.PresetSize(w.Parameters[e[0]])
	}
	if slices.Contains(checks, forms.Check) {
		return checks
	}
	return append(slices.Clone(checks), forms.Check) // who gives forms wants them compared
}

// earlier are the audits that the models of a study are compared with: of forms the first alone.
func (a *App) earlier(ctx context.Context, s *job.Study, o AuditOptions, forms exported) (former, error) {
	own := *s
	if len(forms) > 0 {
		own.Models = s.Models[:1]
	}
	if o.Before != "" {
		f, err := a.before(ctx, &own, o)
		s.Audit.Samples = own.Audit.Samples
		return f, err
	}
	return o.Baseline.former(&own, a.speech())
}

// asked are the checks that one form is audited with: the first is the one that the others are compared with.
func (e exported) asked(model string, checks []*audit.Check) []*audit.Check {
	if len(e) == 0 || model == e[0] {
		return checks
	}
	return slices.DeleteFunc(slices.Clone(checks), func(c *audit.Check) bool { return c == forms.Check })
}

// before audits the model as it was, to be compared with as an earlier audit would be.
func (a *App) before(ctx context.Context, s *job.Study, o AuditOptions) (former, error) {
	file := o.Before
	switch {
	case o.Baseline.File != "":
		return former{}, errors.New("--before and --baseline both say what came before: give one of them")
	case len(s.Models) != 1:
		return former{}, fmt.Errorf("--before is for one model, and %d are audited: choose one with --only, one of %s",
			len(s.Models), strings.Join(modelNames(s), ", "))
	case !job.IsFile(file) || !strings.EqualFold(filepath.Ext(file), ".onnx"):
		return former{}, fmt.Errorf(
			"--before %s: want the model as it was, an ONNX file (.onnx); an earlier audit is given "+
				"with --baseline", file)
	}
	if err := someAllowance(o.Baseline.Allow); err != nil {
		return former{}, err
	}
	old := *s
	m := s.Models[0]
	m = job.Model{Name: m.Name, ONNX: file}
	old.Models = []job.Model{m}
	was := o
	was.Before, was.Only, was.Forms, was.Command = "", nil, nil, ""
	r, err := a.Audit(ctx, &old, was)
	if err != nil {
		return former{}, fmt.Errorf("--before %s: %w", file, err)
	}
	if e := r.Reports[0].Error; e != "" {
		return former{}, fmt.Errorf("--before %s: the audit could not run: %s", file, e)
	}
	if s.Audit.Samples == 0 { // as many as the model before asked for by its size
		s.Audit.Samples = r.Reports[0].Given
	}
	b, err := baseline.Of(file, r.Reports...)
	if err != nil {
		return former{}, fmt.Errorf("--before %s: %w", file, err)
	}
	b.Models[0].Name = job.NameOf(file)
	return former{"--before", map[string]*baseline.Model{m.Name: b.Models[0]}}, nil
}
