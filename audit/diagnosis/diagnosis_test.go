package diagnosis_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/diagnosis"
	"nero/data/space"

	"pgregory.net/rapid"
)

// seen are clues that hold, each beyond doubt; a name that begins with "!" was looked for and not found.
func seen(names ...audit.ClueName) []audit.Clue {
	var out []audit.Clue
	for _, n := range names {
		c := audit.Clue{Name: n, Holds: true, Strength: 1, Location: "at " + string(n)}
		if n[0] == '!' {
			c.Name, c.Holds, c.Location = n[1:], false, ""
		}
		out = append(out, c)
	}
	return out
}

// What each cause looks like to the checks: the clues that hold and those that were looked for and are not so, as a
// full audit hands them in. Every rule has its row.
var looks = map[string][]audit.ClueName{
	"action-not-representation": {audit.ClueActionLaw, audit.ClueFirstLayer},
	"wrong-centre": {
		audit.ClueCentre, audit.ClueConvention, audit.ClueSlopeViolation,
		"!" + audit.ClueActionLaw,
	},
	"handedness": {
		audit.ClueHandedness, audit.ClueKernelAsymmetry, audit.ClueConvolution,
		audit.ClueSlopeViolation, "!" + audit.ClueCentre, audit.ClueSingleLayer,
	},
	"convention": {audit.ClueConvention, audit.ClueOutputLayer, audit.ClueSlopeViolation},
	"output-action": {
		audit.ClueOutputLayer, audit.ClueIdentityError, "!" + audit.ClueConvention,
		"!" + audit.ClueKernelAsymmetry, audit.ClueSingleLayer,
	},
	"batch-scale": {
		audit.ClueBatchScale, audit.ClueBatchCompany, audit.ClueReducedPrecision, "!" + audit.ClueBatchPosition,
	},
	"outlier": {audit.ClueOutlier, audit.ClueGradient, audit.ClueForwardHolds},
	"poses": {
		audit.CluePoses, audit.ClueStrideParity, audit.ClueKernelAsymmetry, audit.ClueGrows, audit.ClueSlopeViolation,
	},
	"non-finite": {audit.ClueNonFinite, audit.ClueOneElement},
	"stochastic": {
		audit.ClueRepeats, audit.ClueRandomNode, audit.ClueBatchPosition,
		audit.ClueBatchCompany, "!" + audit.ClueTrainingNorm,
	},
	"training-norm": {
		audit.ClueTrainingNorm, audit.ClueBatchCompany, audit.ClueBatchPosition,
		"!" + audit.ClueRepeats,
	},
	"batch-leak": {audit.ClueBatchPosition, "!" + audit.ClueTrainingNorm, "!" + audit.ClueRepeats},
	"collapsed":  {audit.ClueConstant},

	"collapsed-features": {audit.ClueCollapsed},

	"unmoved": {audit.ClueUnmoved, audit.ClueGradient, audit.ClueForwardHolds, audit.ClueExtreme},
	"rounding": {
		audit.ClueSlopeRounding, "!" + audit.ClueSlopeViolation,
		"!" + audit.ClueKernelAsymmetry, "!" + audit.ClueReducedPrecision,
	},
	"reduced-precision": {audit.ClueReducedPrecision, audit.ClueSlopeRounding, "!" + audit.ClueKernelAsymmetry},
	"resampling":        {audit.ClueResampling, audit.ClueCleanComb, "!" + audit.ClueKernelAsymmetry},
	"narrow-defect": {
		audit.ClueOneElement, "!" + audit.ClueKernelAsymmetry, audit.ClueSlopeViolation,
		audit.ClueSingleLayer,
	},
	"gradient-only": {audit.ClueGradient, audit.ClueForwardHolds, "!" + audit.ClueKernelAsymmetry},
	"positions": {
		audit.CluePositions, audit.ClueDense, audit.ClueSingleLayer, audit.ClueFirstLayer,
		"!" + audit.ClueKernelAsymmetry, "!" + audit.ClueStrideParity,
	},
	"striding": {
		audit.ClueStridePattern, audit.ClueStrideParity, audit.CluePooling,
		audit.ClueSingleLayer, "!" + audit.ClueKernelAsymmetry, "!" + audit.ClueEdgeBand,
	},
	"one-sided": {
		audit.ClueCrop, "!" + audit.ClueCentre, "!" + audit.ClueKernelAsymmetry,
		audit.ClueFirstLayer,
	},
	"padding": {
		audit.ClueEdgeBand, audit.CluePaddingLayer, audit.ClueSingleLayer,
		audit.ClueConvolution, "!" + audit.ClueKernelAsymmetry, "!" + audit.ClueStridePattern,
	},
	"channel": {
		audit.ClueChannel, audit.ClueDense, audit.ClueSingleLayer, audit.ClueKernelAsymmetry,
		audit.ClueSlopeViolation,
	},
	"nonlinearity":        {audit.ClueNonlinearity, audit.ClueSingleLayer, "!" + audit.ClueKernelAsymmetry},
	"discretised-kernels": {audit.ClueCleanComb, "!" + audit.ClueResampling, "!" + audit.ClueKernelAsymmetry},
	"aliasing":            {audit.ClueCleanComb, "!" + audit.ClueResampling},
	"componentwise":       {audit.ClueCleanComb, "!" + audit.ClueResampling, audit.ClueSlopeViolation},
	"finite-subgroup":     {audit.ClueCleanComb, "!" + audit.ClueResampling, audit.ClueSlopeViolation},
	"force-factor": {
		audit.ClueForceFactor, audit.ClueNotConservative, audit.ClueGradient,
		audit.ClueForwardHolds, "!" + audit.ClueForces, "!" + audit.ClueEnergy,
	},
	"non-finite-batch": {audit.ClueBatchFinite, audit.ClueNonFinite},
	"cut-off":          {audit.ClueCut, audit.ClueEdgeBand, audit.CluePaddingLayer},
	"clipping":         {audit.ClueResampling, audit.ClueChannel, "!" + audit.ClueSlopeRounding},
	"kernel": {
		audit.ClueSingleLayer, audit.ClueKernelAsymmetry, audit.ClueConvolution,
		audit.ClueSlopeViolation, "!" + audit.ClueStrideParity, "!" + audit.ClueEdgeBand, "!" + audit.CluePositions,
	},
	"unconstrained": {
		audit.ClueGrows, audit.ClueKernelAsymmetry, "!" + audit.ClueSingleLayer,
		audit.ClueConvolution, audit.ClueSlopeViolation, "!" + audit.ClueCleanComb,
	},
	"layer-bug": {
		audit.ClueSingleLayer, "!" + audit.ClueKernelAsymmetry, "!" + audit.CluePositions,
		"!" + audit.ClueStrideParity,
	},
	"place": {
		audit.ClueStays, audit.ClueFades, audit.CluePaddingLayer, audit.ClueLintAllows, audit.ClueSlopeViolation,
		"!" + audit.ClueStridePattern, "!" + audit.ClueConvention,
	},
	"coupling":         {audit.ClueCoupling, audit.ClueSingleLayer, audit.ClueDirection, audit.ClueSlopeViolation},
	"sphere":           {audit.ClueSphere, audit.ClueSingleLayer, audit.ClueSlopeViolation},
	"parities":         {audit.ClueParities, audit.ClueSingleLayer, audit.ClueHandedness, audit.ClueSlopeViolation},
	"order":            {audit.ClueOrder, audit.ClueSlopeViolation},
	"direction":        {audit.ClueDirection, audit.ClueSlopeViolation, "!" + audit.ClueHandedness},
	"centering":        {audit.ClueCentering, audit.ClueSlopeViolation},
	"irreps":           {audit.ClueIrreps, audit.ClueHandedness, audit.ClueSlopeViolation},
	"direct-forces":    {audit.ClueNotConservative, "!" + audit.ClueForces, "!" + audit.ClueEnergy},
	"warmup":           {audit.ClueWarmup},
	"static-state":     {audit.ClueMoving, audit.ClueSlopeViolation},
	"neighbors":        {audit.ClueNeighbors, audit.ClueHeavyTail},
	"sensitive-inputs": {audit.ClueSampleEffect, "!" + audit.ClueElementEffect},
	"not-a-symmetry":   {audit.ClueClasses},
	"ties":             {audit.ClueHeavyTail, "!" + audit.ClueOneElement},
	"engines":          {audit.ClueEngines},
	"extreme-inputs":   {audit.ClueExtreme, "!" + audit.ClueEngines},
}

// The settings of causes that are not at work in pictures that turn.
var settings = map[string]audit.Setting{
	"aliasing":        {Kind: space.KindImage, Shifts: true},
	"componentwise":   {Kind: space.KindRows, Space: true},
	"finite-subgroup": {Kind: space.KindRows},
	"clipping":        {Kind: space.KindImage, Still: true, Clipped: 0.1},
}

// Without one node the claim holds: what that node does outweighs where the error shows, and without the clue nothing
// is said of it.
func TestMends(t *testing.T) {
	rows := audit.Setting{Kind: space.KindRows, Space: true}
	for _, c := range []struct {
		name  string
		in    audit.Setting
		extra []audit.ClueName
		node  audit.ClueName
		want  string
	}{
		{"a factor, seen in one channel", rows, []audit.ClueName{audit.ClueChannel}, audit.ClueOddLayer, "layer-bug"},
		{
			"a factor, where a guess names a nonlinearity", rows,
			[]audit.ClueName{audit.ClueSingleLayer, audit.ClueNonlinearity},
			audit.ClueOddLayer, "layer-bug",
		},
		{
			"a factor in a model with lopsided weights",
			audit.Setting{},
			[]audit.ClueName{audit.ClueKernelAsymmetry, audit.ClueSlopeViolation},
			audit.ClueOddLayer, "layer-bug",
		},
		{"an order of rows, seen in one channel", rows, []audit.ClueName{audit.ClueChannel}, audit.ClueOrder, "order"},
		{"a centre, seen in one channel", rows, []audit.ClueName{audit.ClueChannel}, audit.ClueCentering, "centering"},
		{
			"a table, seen in one channel",
			audit.Setting{Kind: space.KindFrames},
			[]audit.ClueName{audit.ClueChannel},
			audit.CluePositions, "positions",
		},
		{
			"a table of a signal",
			audit.Setting{Kind: space.KindSignal, Shifts: true},
			[]audit.ClueName{audit.ClueSingleLayer, audit.ClueFirstLayer},
			audit.CluePositions, "positions",
		},
		{
			"a nonlinearity on components", rows,
			[]audit.ClueName{audit.ClueCleanComb},
			audit.ClueNonlinearity,
			"nonlinearity",
		},
		{
			"a nonlinearity on forces", rows,
			[]audit.ClueName{audit.ClueNotConservative, audit.ClueSampleEffect},
			audit.ClueNonlinearity, "nonlinearity",
		},
		{
			"steps of a rounding", rows, []audit.ClueName{audit.ClueNeighbors}, audit.ClueNonlinearity, "nonlinearity",
		},
		// What says why goes before what says where.
		{"another convention", rows, []audit.ClueName{audit.ClueConvention}, audit.ClueOddLayer, "convention"},
		{"the order of rows", rows, []audit.ClueName{audit.ClueOrder}, audit.ClueOddLayer, "order"},
		{
			"places in space", rows,
			[]audit.ClueName{audit.ClueCentering, audit.ClueChannel},
			audit.ClueOddLayer,
			"centering",
		},
		{"a hand", rows, []audit.ClueName{audit.ClueHandedness}, audit.ClueOddLayer, "handedness"},
	} {
		clues := seen(append(c.extra, audit.ClueMends, c.node)...)
		d := diagnosis.Weigh(diagnosis.Fitting(c.in), clues)
		if len(d) == 0 || d[0].ID != c.want {
			t.Errorf("%s: named %v", c.name, names(d))
			continue
		}
		if c.want == "layer-bug" && d[0].Location != "at "+string(c.node) {
			t.Errorf("%s: at %q", c.name, d[0].Location)
		}
	}
	if d := diagnosis.Weigh(diagnosis.Rules(), seen("!"+audit.ClueMends)); len(d) > 0 {
		t.Errorf("nothing mends, and %v is named", names(d))
	}
}

// What cannot be the cause is not named, however much speaks for it.
func TestSettings(t *testing.T) {
	clues := seen(audit.ClueSingleLayer, audit.ClueConvolution, audit.ClueCleanComb, audit.CluePaddingLayer,
		audit.ClueStrideParity)
	for _, c := range []struct {
		name string
		in   audit.Setting
		not  []string
	}{
		{
			"a signal that is shifted",
			audit.Setting{Kind: space.KindSignal, Shifts: true},
			[]string{"kernel", "discretised-kernels", "componentwise", "finite-subgroup"},
		},
		{
			"points that turn",
			audit.Setting{Kind: space.KindRows, Space: true},
			[]string{"discretised-kernels", "padding", "striding", "one-sided", "aliasing"},
		},
		{"colors", audit.Setting{Kind: space.KindImage, Still: true}, []string{"discretised-kernels", "componentwise"}},
	} {
		d := names(diagnosis.Weigh(diagnosis.Fitting(c.in), clues))
		for _, n := range c.not {
			if len(d) == 0 || slices.Contains(d, n) {
				t.Errorf("%s: named %v", c.name, d)
			}
		}
	}
	signal := audit.Setting{Kind: space.KindSignal, Shifts: true}
	d := diagnosis.Weigh(diagnosis.Fitting(signal),
		seen(audit.ClueSingleLayer, audit.ClueConvolution, audit.ClueSlopeViolation, audit.CluePaddingLayer,
			"!"+audit.ClueStrideParity, "!"+audit.ClueStridePattern))
	if len(d) == 0 || d[0].ID != "padding" || d[0].Confidence < 0.6 {
		t.Errorf("zero padding of a signal is explained by %+v", d)
	}
}

func TestRules(t *testing.T) {
	for _, r := range diagnosis.Rules() {
		clues, ok := looks[r.ID]
		if !ok {
			t.Errorf("%s has no row", r.ID)
			continue
		}
		d := diagnosis.Weigh(diagnosis.Fitting(settings[r.ID]), seen(clues...))
		if len(d) == 0 || d[0].ID != r.ID {
			t.Errorf("%s: named %v", r.ID, names(d))
			continue
		}
		if d[0].Confidence < 0.4 {
			t.Errorf("%s: confidence %.2f, runners-up %v", r.ID, d[0].Confidence, names(d))
		}
		if d[0].Fix == "" || d[0].Verify == "" || d[0].Cause == "" || len(d[0].For) == 0 {
			t.Errorf("%s: incomplete: %+v", r.ID, d[0])
		}
	}
	if len(looks) != len(diagnosis.Rules()) {
		t.Errorf("%d rows for %d rules", len(looks), len(diagnosis.Rules()))
	}
}

func names(d []audit.Diagnosis) []string {
	var out []string
	for _, x := range d {
		out = append(out, x.ID)
	}
	return out
}

// A rule without a way to be told or to be checked is no rule.
func TestRulesAreComplete(t *testing.T) {
	id := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	ids := map[string]bool{}
	for _, r := range diagnosis.Rules() {
		if !id.MatchString(r.ID) || ids[r.ID] {
			t.Errorf("id %q is not fit or is there twice", r.ID)
		}
		ids[r.ID] = true
		if len(r.Needs) == 0 {
			t.Errorf("%s can be named without any clue", r.ID)
		}
		clues := map[audit.ClueName]bool{}
		for _, w := range r.Weigh {
			if clues[w.Clue] {
				t.Errorf("%s weighs %s twice", r.ID, w.Clue)
			}
			clues[w.Clue] = true
			if w.For*w.Not > 0 {
				t.Errorf("%s: %s speaks the same way whether or not it is seen", r.ID, w.Clue)
			}
		}
		for _, n := range r.Needs {
			if !clues[n] {
				t.Errorf("%s needs %s and does not weigh it", r.ID, n)
			}
		}
	}
}

// Nothing wrong is nothing to explain, whatever the clues.
func TestNothingWrong(t *testing.T) {
	r := &audit.Report{
		Verdict: audit.Passed,
		Results: []*audit.Result{{Clues: seen(audit.ClueKernelAsymmetry, audit.ClueGrows)}},
	}
	if d := diagnosis.Explain(r); d != nil {
		t.Errorf("PASS is explained by %v", names(d))
	}
	r.Verdict = audit.Failed
	if d := diagnosis.Explain(r); len(d) == 0 || d[0].ID != "unconstrained" {
		t.Errorf("FAIL is explained by %v", names(d))
	}
	if d := diagnosis.Explain(&audit.Report{Verdict: audit.Failed}); d != nil {
		t.Errorf("explained without a clue: %v", names(d))
	}
	if d := diagnosis.Explain(&audit.Report{Error: "no data", Results: r.Results}); d != nil {
		t.Errorf("an audit that could not run is explained by %v", names(d))
	}
}

// That an error is gone on smooth inputs speaks for aliasing where whole shifts hold, and that it stays against it.
func TestFineDetail(t *testing.T) {
	of := func(more ...audit.ClueName) float64 {
		all := append(slices.Clone(looks["aliasing"]), more...)
		for _, c := range diagnosis.Weigh(diagnosis.Rules(), seen(all...)) {
			if c.ID == "aliasing" {
				return c.Confidence
			}
		}
		return 0
	}
	fine, none, coarse := of(audit.ClueFineDetail), of(), of("!"+audit.ClueFineDetail)
	if !(fine > none) || !(none > coarse) {
		t.Errorf("%g, %g where nobody asked, %g", fine, none, coarse)
	}
}

// A grid that does not follow is no explanation where the kernels would break the claim on one that does: what to do
// about the grid would change nothing. Where nobody found such kernels it is.
func TestUntied(t *testing.T) {
	off := []audit.ClueName{
		audit.ClueStrideParity, "!" + audit.ClueLintAllows, "!" + audit.ClueStridePattern, audit.ClueSlopeViolation,
		audit.ClueFirstLayer,
	}
	for _, c := range []struct {
		name string
		more []audit.ClueName
		want string
	}{
		{"tied", []audit.ClueName{audit.CluePooling, audit.ClueSingleLayer}, "striding"},
		{
			"untied, all layers",
			[]audit.ClueName{audit.ClueUntied, audit.ClueConvolution, "!" + audit.ClueSingleLayer},
			"unconstrained",
		},
		{"untied, by the last layer", []audit.ClueName{audit.ClueUntied, audit.ClueDense, audit.ClueSingleLayer}, ""},
	} {
		d := diagnosis.Weigh(diagnosis.Rules(), seen(append(slices.Clone(off), c.more...)...))
		if c.want != "" && (len(d) == 0 || d[0].ID != c.want) || c.want == "" && len(d) > 0 && d[0].ID == "striding" {
			t.Errorf("%s: named %v, want %q", c.name, names(d), c.want)
		}
	}
}

func TestClueThatWouldDecide(t *testing.T) {
	d := diagnosis.Weigh(diagnosis.Rules(), seen(audit.ClueTrainingNorm))
	if len(d) == 0 || !slices.Contains(d[0].Missing, audit.ClueBatchCompany) {
		t.Errorf("a training-mode node alone: %+v", d)
	}
	if d[0].Location != "at training-norm" {
		t.Errorf("location %q", d[0].Location)
	}
}

// What a diagnosis lacks is said in words, with the check that looks for it; no identifier of a clue is left.
func TestSettles(t *testing.T) {
	const decides = 2
	sweep := &audit.Report{Results: []*audit.Result{{
		Check: &audit.Check{Name: "sweep"}, Status: audit.Tested,
	}}}
	for _, q := range diagnosis.Rules() {
		for _, w := range q.Weigh {
			if w.For < decides {
				continue
			}
			d := &audit.Diagnosis{Missing: []audit.ClueName{w.Clue}}
			said := (&audit.Report{}).Settles(d)
			if len(said) != 1 || !strings.HasPrefix(said[0], "whether ") || !strings.Contains(said[0], " --checks ") {
				t.Errorf("%s is missing, and that is said by %q", w.Clue, said)
			}
		}
	}
	if said := sweep.Settles(&audit.Diagnosis{Missing: []audit.ClueName{audit.ClueFades}}); len(said) != 0 {
		t.Errorf("boxes that fade are to be looked for by a check that ran: %q", said)
	}
}

func TestConfidences(t *testing.T) {
	var all []audit.ClueName
	for _, c := range looks {
		for _, n := range c {
			if n[0] != '!' && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	rapid.Check(t, func(t *rapid.T) {
		var clues []audit.Clue
		for _, n := range rapid.SliceOfN(rapid.SampledFrom(all), 0, 12).Draw(t, "clues") {
			clues = append(clues,
				audit.Clue{
					Name: n, Holds: rapid.Bool().Draw(t, "holds"),
					Strength: rapid.Float64Range(0, 1).Draw(t, "strength"),
				})
		}
		d := diagnosis.Weigh(diagnosis.Rules(), clues)
		var sum float64
		for i, x := range d {
			if !(x.Confidence >= 0 && x.Confidence <= 1) || (i > 0 && x.Confidence > d[i-1].Confidence) {
				t.Fatalf("confidence %g in place %d", x.Confidence, i)
			}
			sum += x.Confidence
		}
		if sum > 1+1e-12 {
			t.Fatalf("confidences sum to %g", sum)
		}
		// The order in which checks hand clues in means nothing.
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.Shuffle(len(clues), func(i, j int) { clues[i], clues[j] = clues[j], clues[i] })
		e := diagnosis.Weigh(diagnosis.Rules(), clues)
		if !slices.Equal(names(d), names(e)) {
			t.Fatalf("in another order %v, was %v", names(e), names(d))
		}
		for i := range e {
			if math.Abs(e[i].Confidence-d[i].Confidence) > 1e-12 {
				t.Fatalf("%s: %g, was %g", e[i].ID, e[i].Confidence, d[i].Confidence)
			}
		}
	})
}

// Rounding excuses what nobody failed for, and never a FAIL.
func TestRoundingExplainsNoFail(t *testing.T) {
	r := &audit.Report{
		Verdict: audit.Failed,
		Results: []*audit.Result{{
			Clues: seen(audit.ClueSlopeRounding, audit.ClueCentering),
			Sets: []*audit.Set{
				{
					Name: "exact", Verdict: audit.NeedsAttention, Cause: audit.CauseRoundoff,
					Worst: audit.Interval{Value: 1e-3},
				},
				{
					Name: "continuous", Verdict: audit.Failed, Cause: audit.CauseViolation,
					Worst: audit.Interval{Value: 4.79},
				},
			},
		}},
	}
	if d := names(diagnosis.Explain(r)); len(d) == 0 || d[0] != "centering" || slices.Contains(d, "rounding") {
		t.Errorf("a FAIL beside a set of rounding is explained by %v", d)
	}
	r.Verdict, r.Results[0].Sets = audit.NeedsAttention, r.Results[0].Sets[:1]
	r.Results[0].Clues = seen(audit.ClueSlopeRounding)
	if d := names(diagnosis.Explain(r)); !slices.Contains(d, "rounding") {
		t.Errorf("a set of rounding alone is explained by %v", d)
	}
}

// What augmentation did already is not advised once more.
func TestAdviceWhereTheErrorIsEven(t *testing.T) {
	clues := seen(audit.ClueGrows, audit.ClueKernelAsymmetry, "!"+audit.ClueSingleLayer, audit.ClueSlopeViolation)
	for _, even := range []bool{false, true} {
		c := audit.Clue{Name: audit.ClueEven, Holds: even, Strength: 0.9}
		d := diagnosis.Weigh(diagnosis.Rules(), append(slices.Clone(clues), c))
		if len(d) == 0 || d[0].ID != "unconstrained" ||
			regexp.MustCompile("^train with").MatchString(d[0].Fix) == even {
			t.Errorf("even %v: %+v", even, d)
		}
	}
}

// Where the claim holds once the numbers of the output are left where they were, no nonlinearity before it is to blame,
// though its layer is the first that cannot be told apart from the output.
func TestOutputBeforeNonlinearity(t *testing.T) {
	clues := seen(audit.ClueNonlinearity, audit.ClueFirstLayer, audit.ClueSingleLayer, audit.ClueMends,
		audit.ClueSlopeViolation, audit.ClueCentering)
	for _, c := range []struct {
		more []audit.Clue
		want string
	}{{nil, "nonlinearity"}, {seen(audit.ClueOutputLayer), "output-action"}} {
		if d := names(diagnosis.Weigh(diagnosis.Rules(), append(slices.Clone(clues), c.more...))); len(d) == 0 ||
			d[0] != c.want {
			t.Errorf("named %v, want %s first", d, c.want)
		}
	}
}

// A centre that was taken out already is not to be taken out once more: it is to be put back.
func TestAdviceWhereShiftsFail(t *testing.T) {
	for clue, want := range map[audit.ClueName]string{
		"": "^subtract the mean", audit.ClueStaysBehind: "^add the centre",
		audit.ClueMovesAlong: "or declare positions$",
	} {
		clues := seen(audit.ClueCentering)
		if clue != "" {
			clues = seen(audit.ClueCentering, clue)
		}
		d := diagnosis.Weigh(diagnosis.Rules(), clues)
		if len(d) == 0 || d[0].ID != "centering" || !regexp.MustCompile(want).MatchString(d[0].Fix) {
			t.Errorf("%q: %+v", clue, d)
		}
	}
}

// Where nearly all layers break by themselves none of them is to blame: the model is generic, and no place is named.
// One layer that breaks alone is.
func TestGenericModel(t *testing.T) {
	clues := []audit.Clue{
		{Name: audit.ClueSlopeViolation, Holds: true, Strength: 1},
		{Name: audit.ClueFirstLayer, Holds: true, Strength: 0.9, Location: "conv1"},
		{Name: audit.ClueConvolution, Holds: true, Strength: 0.4, Location: "conv1"},
		{Name: audit.ClueGrows, Strength: 0.8},
	}
	for _, generic := range []bool{false, true} {
		d := diagnosis.Weigh(diagnosis.Rules(), append(slices.Clone(clues),
			audit.Clue{Name: audit.ClueGeneric, Holds: generic, Strength: 0.9},
			audit.Clue{Name: audit.ClueSingleLayer, Holds: !generic, Strength: 0.9, Location: "conv1"}))
		if len(d) == 0 || (d[0].ID == "unconstrained") != generic || (d[0].Location == "") != generic {
			t.Errorf("generic %v: %+v", generic, d)
		}
	}
}

// A layer that breaks evenly may be one that learned the symmetry or one that lost it: both are told.
func TestKernelWhereTheErrorIsEven(t *testing.T) {
	d := diagnosis.Weigh(diagnosis.Rules(), seen(audit.ClueSingleLayer, audit.ClueDense, audit.ClueEven))
	if len(d) == 0 || d[0].ID != "kernel" || !strings.Contains(d[0].Cause, "training") ||
		!strings.Contains(d[0].Fix, "weight sharing") {
		t.Errorf("%+v", d)
	}
}
