package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"nero/audit"
	"nero/audit/check/endtoend"
	"nero/audit/check/lattice"
	"nero/run/job"
	"nero/run/workload"
)

const (
	// margin is how many times the error of a reference is allowed.
	margin = 10
	// saneError is the largest error of a model that may serve as a reference: that of the loosest preset.
	saneError = 1e-3
)

// calibrate sets the threshold of a policy by a model that is known to be good, on the same study: ten times its error
// on the exact elements, or on the others if there are none, or ten times the rounding floor where that is larger: an
// error below the floor is not known well enough to be a measure. The error is the upper limit of what an audit judges.
// Which of the two it was is said, with both numbers.
func (a *App) calibrate(ctx context.Context, s *job.Study, o AuditOptions, p audit.Policy) (audit.Policy, error) {
	file := o.Calibrate
	fail := func(err error) (audit.Policy, error) { return p, fmt.Errorf("--calibrate: %s: %w", file, err) }
	if s.Audit.Threshold != 0 || p.Preset != "production" {
		return p, errors.New(
			"--calibrate measures the threshold: leave --threshold, --preset and theirs in the study away")
	}
	if ext := filepath.Ext(file); !strings.EqualFold(ext, ".onnx") {
		return fail(errors.New("want a model (.onnx) that is known to have the symmetry"))
	}
	ref := *s
	ref.Models = []job.Model{{Name: job.NameOf(file), ONNX: file}}
	ref.Audit.Contract, ref.Audit.Layers, ref.Audit.EarlyStop = job.Contract{}, nil, false
	wo := a.options(o.Engine)
	wo.Audit = true
	w, err := workload.Open(ctx, &ref, wo)
	if err != nil {
		return fail(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	subject, _, err := a.inputs(w, w.Eval.Models[0], o.Workers)
	if err != nil {
		return fail(err)
	}
	r, err := audit.Run(ctx, subject, p, []*audit.Check{lattice.Check, endtoend.Check}, audit.Options{})
	if err != nil {
		return fail(err)
	}
	k, err := known(r)
	if err != nil {
		return fail(err)
	}
	digest := ""
	for _, m := range w.Job.Models {
		digest = m.SHA256
	}
	p.Preset, p.Threshold = "", margin*max(k.err, k.floor)
	of := fmt.Sprintf("of the reference %s (sha256 %.12s) on the %s of this study", job.NameOf(file), digest, k.set)
	switch {
	case k.err >= k.floor:
		p.Origin = fmt.Sprintf("%d times the error %s %s, which is above its rounding floor %s", margin,
			audit.Figures(k.err), of, audit.Figures(k.floor))
	case k.measured:
		p.Origin = fmt.Sprintf("%d times the rounding floor %s %s, because its error %s is below that", margin,
			audit.Figures(k.floor), of, audit.Figures(k.err))
	default:
		p.Origin = fmt.Sprintf("%d times the precision %s of float32, because the error %s is 0", margin,
			audit.Figures(k.floor), of)
	}
	a.notef("threshold %s: %s", audit.Figures(p.Threshold), p.Origin)
	return p, nil
}

// reference is what is known of a model that sets a limit.
type reference struct {
	// upper limit of the error that is judged, and the rounding floor, relative
	err, floor float64
	// the floor was measured; else it is the precision of float32
	measured bool
	// that they were measured on
	set string
}

// known is the error that a reference is known to have, and the set that it was measured on.
func known(r *audit.Report) (reference, error) {
	var of *audit.Set
	for _, s := range r.Sets() {
		if of == nil || s.Exact && !of.Exact {
			of = s
		}
	}
	no := func(format string, args ...any) (reference, error) { return reference{}, fmt.Errorf(format, args...) }
	switch {
	case of == nil:
		return no("no set of elements could be judged, so its error is not known")
	case of.NonFinite > 0:
		return no("%d outputs on the %s are not finite; a reference must be known to be good", of.NonFinite, of.Name)
	case of.Cause == audit.CauseVacuous || !(of.Scale > 0):
		return no("its outputs do not vary, so its error says nothing")
	}
	k := reference{err: max(of.Worst.Value, of.Worst.Hi), set: of.Name} // NaN if there is no limit
	if math.IsNaN(k.err) {
		return no("one input gives no interval of its error; use more inputs")
	}
	if f := of.Floors.Rounding; f > 0 {
		k.floor, k.measured = f, true
	}
	if e := max(k.err, k.floor); !(e <= saneError) {
		why := "it does not have the symmetry itself"
		switch of.Cause { //nolint:exhaustive // the other causes are of the model
		case audit.CauseCut:
			why = "what leaves the frame alone would give that: use inputs with a margin, or --border circular"
		case audit.CauseResampling:
			why = "resampling alone would give that: take exact elements (--orbit lattice), or a finer kernel"
		}
		return no("its error on the %s is %s, more than %s: %s", of.Name, audit.Figures(e), audit.Figures(saneError),
			why)
	}
	if k.err == 0 && k.floor == 0 {
		k.floor = 1.0 / (1 << 24) // not even the last digit moves: the precision of float32
	}
	return k, nil
}
