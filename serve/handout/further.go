package handout

import (
	"fmt"

	"nero/serve/api"
)

// mostListed bounds the classes that turn into others which a report lists for a model.
const mostListed = 1000

// further adds what the views below the table show of all samples, as far as it fits: what moved samples are taken for,
// and every model by every metric.
func (b *builder) further(free int64) error {
	for m := range b.doc.Models {
		if b.doc.Arrays == nil || b.doc.Output != "scores" {
			break
		}
		for _, against := range []string{"truth", "self"} {
			t, err := b.run.Turns(b.ctx, api.TurnsRequest{Model: m, Against: against})
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			if err != nil || len(t.From) == 0 {
				continue // there are no classes, no labels, or no identity
			}
			if n := len(t.Entries); n > mostListed {
				t.Entries, t.Left = t.Entries[:mostListed], t.Left+n-mostListed
			}
			k, err := packJSON(fmt.Sprintf("turns.%d.%s", m, against), t)
			if err != nil {
				return err
			}
			if _, err := b.fit(free, k); err != nil {
				return err
			}
		}
	}
	t, err := b.run.ModelTable(b.ctx, api.ModelsRequest{})
	if err != nil {
		return err
	}
	k, err := packJSON("models", t)
	if err != nil {
		return err
	}
	_, err = b.fit(free, k)
	return err
}
