package audit

import (
	"context"
	"fmt"

	"nero/audit/document"
	"nero/data/space"
)

// Form is one of the forms in which a model was exported, such as in float16 or with integers of 8 bits.
type Form struct {
	Name string
	// of its file; 0 if it is not known
	Bytes     int64
	Predictor Predictor
}

// FormOf says how one form of a model compares with the first.
type FormOf struct {
	Name  string
	Bytes int64
	// Apart is the mean over inputs of how far the answer to the unmoved input is from that of the first form, over the
	// scale of the first form's outputs; Most is the largest, at At. NaN for the first form itself.
	Apart Interval
	Most  float64
	At    Where
	// NonFinite counts inputs without such a number.
	NonFinite int
	// Agree is the share of inputs to which it names the same class as the first; of no inputs where there are no
	// classes.
	Agree Interval
	// Error says why there are no answers of this form; "" if there are.
	Error string
}

// PredictForm sends values through another form of the model and brings the answers to the unit in which the outputs of
// the subject are compared.
func (p *Pass) PredictForm(ctx context.Context, f *Form, values []space.Value) ([]space.Value, error) {
	out, err := f.Predictor.Predict(ctx, values)
	if err != nil {
		return nil, fmt.Errorf("form %s: %w", f.Name, err)
	}
	if len(out) != len(values) {
		return nil, fmt.Errorf("form %s: %d predictions for %d inputs", f.Name, len(out), len(values))
	}
	for i, v := range out {
		if out[i], err = p.driver.unit(v); err != nil {
			return nil, fmt.Errorf("form %s: %w", f.Name, err)
		}
	}
	p.Progress(len(values))
	return out, nil
}

// formsOf lays the forms that one of the reports compared side by side, each with what its own audit says; nil where no
// forms were compared.
func formsOf(reports []*Report) *document.Forms {
	for _, r := range reports {
		if len(r.Forms) == 0 {
			continue
		}
		out := &document.Forms{Of: r.Model, Confidence: number(r.Policy.Confidence), Inputs: r.Inputs}
		for i, f := range r.Forms {
			j := document.Form{Model: f.Name, Bytes: f.Bytes, Error: f.Error}
			for _, own := range reports {
				if own.Model == f.Name {
					judged(&j, own)
				}
			}
			if i > 0 && f.Error == "" {
				j.Apart = &document.Apart{
					Mean: interval(f.Apart), Most: number(f.Most), At: where(f.At), NonFinite: f.NonFinite,
				}
				if f.Agree.N > 0 {
					a := interval(f.Agree)
					j.Agree = &a
				}
			}
			out.Forms = append(out.Forms, j)
		}
		return out
	}
	return nil
}

// judged fills in what the audit of a form itself says: of its sets the one with the worst verdict, of these that with
// the largest error.
func judged(j *document.Form, r *Report) {
	if j.Verdict = r.Verdict; r.Error != "" {
		j.Verdict, j.Error = document.CouldNotRun, r.Error
	}
	var worst *Set
	for _, s := range r.Sets() {
		switch {
		case worst == nil, s.Verdict != worst.Verdict && document.Worse(worst.Verdict, s.Verdict) == s.Verdict:
			worst = s
		case s.Verdict == worst.Verdict && !(s.Worst.Value <= worst.Worst.Value):
			worst = s
		}
	}
	if worst != nil {
		j.Set, j.Unit, j.Worst = worst.Name, worst.Unit, interval(worst.Worst)
		j.Floor = document.Optional(r.Policy.floor(worst))
	} else {
		j.Worst = interval(noInterval())
	}
}
