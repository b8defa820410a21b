package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
)

// summaryFile is where a run says how far the outputs of its models vary.
const summaryFile = "summary.json"

// summaryOf is the summary of a run; one that says nothing where the run has none.
func summaryOf(r *store.Run) (*fold.Summary, error) {
	b, err := r.ReadFile(summaryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return new(fold.Summary), nil
	}
	if err != nil {
		return nil, err
	}
	sum := new(fold.Summary)
	if err := json.Unmarshal(b, sum); err != nil {
		return nil, fmt.Errorf("%s: %w", summaryFile, err)
	}
	return sum, nil
}

// outputs says whether the outputs of a model vary over the samples of a run, and whether that is known: by their
// centred scale, where a metric needed it; else by the answers that the rows hold, classes, boxes and pixels of each
// class, which do not vary if there is one and the same to every sample at every element. Scores whose class does not
// vary may do so, unless all metrics are of classes alone. Of one sample nothing is known.
func outputs(r *store.Run, sum *fold.Summary, model int, classesAlone bool) (varies, known bool, err error) {
	if model < len(sum.FieldScales) && len(sum.FieldScales[model]) > 0 { // of a record one field that varies is enough
		for _, s := range sum.FieldScales[model] {
			varies = varies || !(s == 0)
		}
		return varies, true, nil
	}
	if model < len(sum.Scales) && !math.IsNaN(float64(sum.Scales[model])) {
		const roundings, unit = 64, 1.0 / (1 << 24) // as the audit's check of controls counts, of float32
		s := float64(sum.Scales[model])
		switch {
		case s == 0:
			return false, true, nil
		case model >= len(sum.Sizes) || math.IsNaN(float64(sum.Sizes[model])):
			return true, false, nil // whether it is more than rounding
		}
		return s > roundings*unit*float64(sum.Sizes[model]), true, nil
	}
	var first *job.Row
	rows := 0
	for row, err := range r.Rows(store.Filter{Models: []int{model}, Metrics: []string{}, Boxes: true, Pixels: true}) {
		switch {
		case err != nil:
			return false, false, err
		case row.Err != "":
			continue
		case row.Top == nil && row.Boxes == nil && row.Pixels == nil:
			return false, false, nil
		}
		if rows++; first == nil {
			first = &row
		}
		if !alike(&row, first) {
			return true, true, nil
		}
	}
	return false, rows > 1 && (classesAlone || first.Top == nil), nil
}

// alike tells whether the answers of a row are all one, that which another row has at its first element.
func alike(row, first *job.Row) bool {
	for _, top := range row.Top {
		if top != first.Top[0] {
			return false
		}
	}
	for _, boxes := range row.Boxes {
		if !slices.EqualFunc(boxes, first.Boxes[0], func(a, b job.Detection) bool {
			a.Match, b.Match = 0, 0 // what the truth makes of it
			return a == b
		}) {
			return false
		}
	}
	for _, pixels := range row.Pixels {
		if one, other := only(pixels), only(first.Pixels[0]); one < 0 || one != other {
			return false
		}
	}
	return true
}

// only is the class of all pixels of an answer, -1 for several and where nobody knows: masks of several classes may
// have
// as many pixels of each and lie elsewhere.
func only(pixels []job.Pixels) int32 {
	class := int32(-1)
	for _, p := range pixels {
		switch {
		case p.Got == 0:
		case class >= 0:
			return -1
		default:
			class = p.Class
		}
	}
	return class
}

// unknown tells of releases of which nothing says whether their outputs vary.
func unknown(in []*Release) []string {
	n, first := 0, ""
	for _, r := range in {
		if r.Unknown {
			if n++; n == 1 {
				first = r.File
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Whether outputs vary is not known of %s (first %s), so that what stays may be a "+
		"constant: an older program wrote them, or no metric measures it; relative does.",
		words.Plural(n, "model of a run", "models of runs"), first)}
}
