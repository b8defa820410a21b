package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nero/data/dataset"
	"nero/model/engine/provider"
	"nero/run/eval"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
)

// OpenRun answers probes of a stored run, complete or not, from the data and model files that its job names. Files are
// held against the checksums of the job: a file that is missing or was replaced since switches off what needs it, and
// [Service.Status] names it and says what to do. Without a model its answers are off and the others stay; without the
// data everything is. The error is that of ctx and no other.
//
// Options of the workload are its engine and rules; the rest is as the run needs it. Reading the checksums of large
// data takes as long as reading the data.
func OpenRun(ctx context.Context, run *store.Run, wo workload.Options, o Options) (*Service, error) {
	j := locate(run.Job(), run.Dir(), o.Roots)
	wo.KeepGoing, wo.Audit = true, false // a sample that cannot be read is of no concern to the others
	reasons := make([]string, len(j.Models))
	study := j.Study
	study.Models = nil
	for i, m := range j.Models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if k := slices.IndexFunc(j.Study.Models,
			func(o job.Model) bool { return o.Name == m.Name && !o.IsFile() }); k >= 0 {
			study.Models = append(study.Models, j.Study.Models[k]) // who answers there is seen once it is asked
			continue
		}
		if reasons[i] = changed("model "+m.Name, m.Ref); reasons[i] == "" {
			study.Models = append(study.Models, job.Model{Name: m.Name, ONNX: m.Path})
		}
	}
	if len(study.Models) > 0 {
		s, reason := openModels(ctx, run, j, study, wo, o, reasons)
		if files := local(study.Models); s == nil && len(files) > 0 && len(files) < len(study.Models) &&
			ctx.Err() == nil {
			// A server that is down takes its own answers away and no others.
			for i, m := range j.Models {
				if reasons[i] == "" && !job.IsFile(m.Path) {
					reasons[i] = reason
				}
			}
			study.Models = files
			s, reason = openModels(ctx, run, j, study, wo, o, reasons)
		}
		if err := ctx.Err(); err != nil {
			if s != nil {
				_ = s.Close() // nobody asked anything yet
			}
			return nil, err
		}
		if s != nil {
			return s, nil
		}
		for i := range reasons {
			if reasons[i] == "" {
				reasons[i] = reason
			}
		}
	}
	return openStill(ctx, j, wo, o, reasons)
}

// OpenInputs is [OpenRun] without the models: no model is opened, and no engine is needed. Samples are read and moved
// as they were in the run; every model is off.
func OpenInputs(ctx context.Context, run *store.Run, wo workload.Options, o Options) (*Service, error) {
	j := locate(run.Job(), run.Dir(), o.Roots)
	wo.KeepGoing, wo.Audit = true, false
	reasons := make([]string, len(j.Models))
	for i := range reasons {
		reasons[i] = "models were not asked for"
	}
	return openStill(ctx, j, wo, o, reasons)
}

// openStill opens the data of a run with all models off, and why.
func openStill(ctx context.Context, j *job.Job, wo workload.Options, o Options, reasons []string) (*Service, error) {
	s := openInputs(j, wo, o)
	if err := ctx.Err(); err != nil {
		_ = s.Close() // nobody asked anything yet
		return nil, err
	}
	for i, m := range j.Models {
		s.at, s.names, s.status.Models = append(s.at, -1), append(s.names, m.Name),
			append(s.status.Models, Level{Reason: reasons[i]})
	}
	return s, nil
}

// local are the models that are files.
func local(ms []job.Model) []job.Model {
	return slices.DeleteFunc(slices.Clone(ms), func(m job.Model) bool { return !m.IsFile() })
}

// openModels opens the models of a run that are what they were; reasons says which are not. It returns why there is no
// service.
func openModels(ctx context.Context, run *store.Run, j *job.Job, study job.Study, wo workload.Options, o Options,
	reasons []string,
) (*Service, string) {
	w, err := workload.Open(ctx, &study, wo)
	if err != nil && wo.Providers == nil && study.Placed() {
		wo.Providers = []string{provider.CPU} // a machine without the provider shows the run all the same
		var again error
		if w, again = workload.Open(ctx, &study, wo); again == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err.Error()
	}
	if reason := differs(j, w); reason != "" {
		_ = w.Close() // the reason says more
		return nil, reason
	}
	s := newService(w, o)
	s.own = w
	for i, m := range j.Models {
		at := slices.IndexFunc(w.Eval.Models, func(e *eval.Model) bool { return e.Name == m.Name })
		level := Level{On: at >= 0, Reason: reasons[i]}
		if at >= 0 && !w.Eval.Models[at].Fixed {
			w.Eval.Models[at].Batch = m.Batch // another engine may have chosen another
		}
		s.at, s.names, s.status.Models = append(s.at, at), append(s.names, m.Name), append(s.status.Models, level)
	}
	if s.scaled {
		w.Eval.Scales, w.Eval.FieldScales = scales(run, w)
	}
	if now := w.Job.Engine; now != j.Engine {
		s.status.Notes = append(s.status.Notes,
			fmt.Sprintf("the run was computed by %s and live answers come from %s: their last digits may differ",
				j.Engine, now))
	}
	if j.Numbers != workload.Numbers {
		s.status.Notes = append(s.status.Notes,
			"the run was computed by another version of this program, which rounds or measures differently: live "+
				"answers may differ from the stored ones")
	}
	return s, ""
}

// rooted is the job with its relative paths below the folder that has the files: the current one, or the first above
// the run folder, since runs are often kept beside or below their study. What is found there is held against the
// checksums like everything else.
func rooted(j *job.Job, dir string) *job.Job {
	var relative []*string
	r := *j
	r.Models, r.Files = slices.Clone(j.Models), slices.Clone(j.Files)
	for i := range r.Models {
		if job.IsFile(r.Models[i].Path) {
			relative = append(relative, &r.Models[i].Path)
		}
	}
	for i := range r.Files {
		relative = append(relative, &r.Files[i].Path)
	}
	relative = append(relative, r.Study.Paths()...)
	relative = slices.DeleteFunc(relative, func(p *string) bool { return *p == "" || filepath.IsAbs(*p) })
	bases := []string{"."}
	if abs, err := filepath.Abs(dir); err == nil {
		for up := abs; ; up = filepath.Dir(up) {
			bases = append(bases, up)
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	best, most := ".", 0
	for _, base := range bases {
		n := 0
		for _, p := range relative {
			if _, err := os.Stat(filepath.Join(base, *p)); err == nil {
				n++
			}
		}
		if n > most {
			best, most = base, n
		}
	}
	if best != "." {
		for _, p := range relative {
			*p = filepath.Join(best, *p)
		}
	}
	return &r
}

// openInputs opens the data of a run without its models.
func openInputs(j *job.Job, wo workload.Options, o Options) *Service {
	none := func(reason string) *Service {
		s := newService(nil, o)
		s.status.Inputs.Reason = reason
		return s
	}
	study := j.Study
	study.Models = slices.Clone(study.Models)
	for _, f := range j.Files {
		reason := changed("the data", f)
		switch {
		case reason == "":
		case f.Path == study.Data.Labels: // inputs can be shown without them
			study.Data.Labels = "none"
			study.Data.Balance, study.Data.Limit, study.Data.Side = "", 0, "" // the choice is in the job
		default:
			return none(reason)
		}
	}
	w, err := workload.Inputs(&study, wo)
	if err != nil {
		return none(err.Error())
	}
	w.Eval.Samples = j.Samples
	if study.Data.Labels != "none" || j.Study.Data.Labels == "none" {
		if j.Names != "" && job.NamesDigest(w.Data.IDs(), w.Data.Labels()) != j.Names {
			return none(otherNames(study.Data.Source()))
		}
	}
	if n := w.Data.Len(); w.Eval.Count() != j.Count ||
		slices.ContainsFunc(j.Samples, func(i int) bool { return i < 0 || i >= n }) {
		return none(fmt.Sprintf(
			"%s has %d samples, which are not the %d of the run; put the files back that the run was made with, or "+
				"run the study again",
			study.Data.Source(), n, j.Count))
	}
	if !reflect.DeepEqual(w.Eval.Plan.Elements, j.Elements) {
		w.Eval.Plan.Elements = j.Elements
	}
	s := newService(w, o)
	s.own = w
	return s
}

// changed says why a file cannot be used, "" if it is what it was.
func changed(what string, f job.Ref) string {
	if !job.IsFile(f.Path) {
		return fmt.Sprintf("%s: another model answers at %s than in the run; put the old one back, or run the study "+
			"again", what, f.Path)
	}
	sum, err := dataset.Digest(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%s: %s is not there any more; put the file back where it was, name a "+
			"folder that holds it with nero serve --root, or run the study again", what, f.Path)
	case err != nil:
		return fmt.Sprintf("%s: %s cannot be read: %v; make it readable for this program", what, f.Path, err)
	case sum != f.SHA256:
		return fmt.Sprintf("%s: %s was replaced since the run (SHA-256 %.12s…, the run was made with %.12s…); put "+
			"the old file back, or run the study again",
			what, f.Path, sum, f.SHA256)
	}
	return ""
}

func otherNames(images string) string {
	return images + " holds samples of other names or labels than the run was made with; put the files back, or run " +
		"the study again"
}

// differs holds what was opened against the job, as far as a difference would make an answer one about something else.
func differs(j *job.Job, w *workload.Workload) string {
	now := w.Job
	if len(now.Files) == len(j.Files) {
		for i, f := range now.Files {
			if f.Path == j.Files[i].Path && f.SHA256 != j.Files[i].SHA256 {
				return changed("the data", j.Files[i])
			}
		}
	}
	sums := func(fs []job.Ref) (s []string) {
		for _, f := range fs {
			s = append(s, f.SHA256)
		}
		return s
	}
	data := j.Study.Data.Source()
	switch {
	case !slices.Equal(sums(now.Files), sums(j.Files)):
		return fmt.Sprintf("the data: %s holds other files than the run was made with; put them back, or run the "+
			"study again", data)
	case j.Names != "" && now.Names != j.Names:
		return "the data: " + otherNames(data)
	case now.Count != j.Count || !slices.Equal(now.Samples, j.Samples):
		return fmt.Sprintf("the data: another choice of samples of %s than in the run; run the study again with this "+
			"version of the program", data)
	case !reflect.DeepEqual(now.Elements, j.Elements):
		return fmt.Sprintf("the group: other elements of %s than in the run; run the study again with this version "+
			"of the program", j.Study.Group.Name)
	case !slices.Equal(now.Metrics, j.Metrics):
		return fmt.Sprintf("the metrics: %s, in the run %s; run the study again with this version of the program",
			strings.Join(now.Metrics, ", "), strings.Join(j.Metrics, ", "))
	}
	for _, m := range now.Models {
		if k := slices.IndexFunc(j.Models, func(r job.ModelRef) bool { return r.Name == m.Name }); k >= 0 &&
			j.Models[k].SHA256 != m.SHA256 {
			return changed("model "+m.Name, j.Models[k].Ref) // it was replaced a moment ago
		}
	}
	return ""
}

// scales are the scales of the outputs as the run has measured them, one per opened model; nil if it does not say, or
// if a metric needs more than scales, and they are to be measured again.
func scales(run *store.Run, w *workload.Workload) ([]float64, []map[string]float64) {
	if eval.Centred(w.Eval.Metrics) {
		return nil, nil
	}
	b, err := run.ReadFile("summary.json")
	if err != nil {
		return nil, nil
	}
	var sum fold.Summary
	if json.Unmarshal(b, &sum) != nil || sum.Format != fold.Format || sum.Job != run.Hash() ||
		len(sum.Scales) != len(run.Job().Models) {
		return nil, nil
	}
	out, fields := make([]float64, 0, len(w.Eval.Models)), make([]map[string]float64, 0, len(w.Eval.Models))
	for i, m := range run.Job().Models {
		if !slices.ContainsFunc(w.Eval.Models, func(e *eval.Model) bool { return e.Name == m.Name }) {
			continue
		}
		of := map[string]float64{}
		if i < len(sum.FieldScales) {
			for f, v := range sum.FieldScales[i] {
				of[f] = float64(v)
			}
		}
		for _, f := range eval.ScaledFields(w.Eval.Metrics) {
			v, ok := of[f]
			if f == "" {
				v, ok = float64(sum.Scales[i]), true
			}
			if !ok || math.IsNaN(v) {
				return nil, nil
			}
		}
		out, fields = append(out, float64(sum.Scales[i])), append(fields, of)
	}
	return out, fields
}
