package preflight

import (
	"context"
	"math"
	"slices"

	"nero/audit"
	"nero/data/space"
)

// together is how many inputs share a batch while its place, company and size are told from each other, and alone is
// how many of them are predicted alone.
const (
	together = 4
	alone    = 2
)

// sizeOf is the size of the batches that n inputs are cut into: two of them at least, so that company can be exchanged;
// 0 if that leaves nobody any company.
func sizeOf(n int) int {
	if n < 4 {
		return 0
	}
	return min(together, n/2)
}

// parts is how many predictions apart asks for.
func parts(n int) int {
	k := sizeOf(n)
	if k == 0 {
		return 0
	}
	return 3*2*k + alone*(k+1)
}

// apart tells apart what about a batch changes an answer. Two batches of inputs a and b are predicted as they are; in
// reverse, which changes the place and keeps the company; and with every second place exchanged between the two, which
// changes the company and keeps the place. The first of each is then predicted alone and first among copies of itself,
// which changes the size and nothing else: the mean, the spread and the largest of copies are those of one.
func (r *Result) apart(ctx context.Context, p *audit.Pass, values []space.Value, where func(int) audit.Where) error {
	k := sizeOf(len(values))
	if k == 0 {
		r.Place, r.Company, r.Size = math.NaN(), math.NaN(), math.NaN()
		return nil
	}
	_, sized := p.Subject.Predictor.(audit.BatchPredictor)
	send := func(batch []space.Value) ([]space.Value, error) {
		if sized {
			return p.PredictBatch(ctx, len(batch), batch)
		}
		return p.PredictBatch(ctx, 0, batch)
	}
	// note keeps the largest difference of one kind; from is the index of the first of the two lists among the values.
	note := func(into *float64, name string, a, b []space.Value, index func(int) int) error {
		d, at, err := largest(p, a, b)
		if err != nil {
			return err
		}
		if d > *into {
			*into, r.Worst[name] = d, where(index(at))
		}
		return nil
	}
	var plain [2][]space.Value
	for b := range plain {
		in := values[b*k : (b+1)*k]
		var err error
		if plain[b], err = send(in); err != nil {
			return err
		}
		back := slices.Clone(in)
		slices.Reverse(back)
		out, err := send(back)
		if err != nil {
			return err
		}
		slices.Reverse(out)
		if err := note(&r.Place, "place", plain[b], out, func(i int) int { return b*k + i }); err != nil {
			return err
		}
	}
	for b := range plain {
		mixed, want := make([]space.Value, k), make([]space.Value, k)
		from := func(i int) int { return (b + i) % 2 } // the batch that place i is taken from
		for i := range mixed {
			mixed[i], want[i] = values[from(i)*k+i], plain[from(i)][i]
		}
		out, err := send(mixed)
		if err != nil {
			return err
		}
		if err := note(&r.Company, "company", want, out, func(i int) int { return from(i)*k + i }); err != nil {
			return err
		}
	}
	for b := range alone {
		one, err := send(values[b*k : b*k+1])
		if err != nil {
			return err
		}
		many, err := send(slices.Repeat(values[b*k:b*k+1], k))
		if err != nil {
			return err
		}
		if err := note(&r.Size, "size", one, many[:1], func(int) int { return b * k }); err != nil {
			return err
		}
	}
	return nil
}
