package repeat

import (
	"fmt"
	"math"

	"nero/measure/twosample"
	"nero/present/words"
)

// Depends is whether answers depend on the object that is asked about. What is noise alone is the same in distribution
// at every view, and empty.
type Depends struct {
	// objects that were compared, drawn where there are many
	Objects int `json:"objects"`
	// mean distance of two answers about one object, and of two about different ones: 0 or 1 of labels, of numbers over
	// the centred scale
	Same  Number `json:"same"`
	Other Number `json:"other"`
	// of the hypothesis that answers do not depend on the object
	P Number `json:"p"`
	// p is at most 1 - confidence, or at most 0.001
	Shown bool `json:"shown"`
}

// How much is compared: objects, and products of pairs of answers with the numbers of an answer. An effect that so many
// objects do not show is none that a claim could rest on.
const (
	mostCompared  = 200
	fewCompared   = 8
	mostDistances = 50_000_000
)

// part is answers about one object.
type part struct {
	texts   []string
	numbers [][]float64
}

func (p *part) add(b *book, object int, a answered, k int) {
	p.texts = append(p.texts, b.texts[object][a.classes[k]])
	p.numbers = append(p.numbers, a.numbers[k])
}

// thinned leaves at most so many answers, at equal distances.
func (p *part) thinned(most int) {
	n := len(p.texts)
	if n <= most {
		return
	}
	for k := range most {
		p.texts[k], p.numbers[k] = p.texts[k*n/most], p.numbers[k*n/most]
	}
	p.texts, p.numbers = p.texts[:most], p.numbers[:most]
}

// parts are the answers about an object in two parts: those to the reference and those to other views; of one view
// those
// of every second round.
func (b *book) parts(object int) (first, second part) {
	for v, a := range b.of[object] {
		for k, round := range a.rounds {
			other := v != b.o.Reference
			if len(b.Views) == 1 {
				other = round%2 == 1
			}
			if other {
				second.add(b, object, a, k)
			} else {
				first.add(b, object, a, k)
			}
		}
	}
	return first, second
}

// depends asks whether answers depend on the object; nil where nothing is asked twice.
func (b *book) depends() *Depends {
	if len(b.Views) == 1 && b.o.Times < 2 {
		return nil
	}
	var parts [][2]part
	wide := 1
	for i := range b.of {
		first, second := b.parts(i)
		if len(first.texts) == 0 || len(second.texts) == 0 {
			continue
		}
		if b.numbers {
			wide = max(wide, len(first.numbers[0]))
		}
		parts = append(parts, [2]part{first, second})
	}
	r := b.draws("objects")
	most := min(len(parts), mostCompared)
	if wide > mostDistances/(mostCompared*mostCompared) {
		most = min(most, max(fewCompared, int(math.Sqrt(mostDistances/float64(wide)))))
	}
	if most < len(parts) {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		parts = parts[:most]
	}
	each := int(math.Sqrt(mostDistances / float64(max(most, 1)) / float64(max(most, 1)) / float64(wide)))
	for i := range parts {
		parts[i][0].thinned(max(each, 1))
		parts[i][1].thinned(max(each, 1))
	}
	t := twosample.TellApart(len(parts), func(i, j int) float64 { return b.partsApart(&parts[i][0], &parts[j][1]) }, r)
	return &Depends{
		Objects: t.Objects, Same: Number(t.Same), Other: Number(t.Other), P: Number(t.P),
		Shown: t.P <= max(1-b.o.Confidence, 1.0/(twosample.Draws+1)),
	}
}

// partsApart is the mean distance of an answer of one part and one of another.
func (b *book) partsApart(x, y *part) float64 {
	sum := 0.0
	for i := range x.texts {
		for j := range y.texts {
			sum += b.distance(x.texts[i] == y.texts[j], x.numbers[i], y.numbers[j])
		}
	}
	return sum / float64(len(x.texts)*len(y.texts))
}

// hollow says why answers that stay are no evidence; empty where they are some.
func (b *book) hollow(d *Depends) string {
	if text, ok := b.one(); ok {
		return fmt.Sprintf("all objects have one and the same answer, %q, so that answers which stay are no evidence: "+
			"ask about objects that are answered otherwise, too", words.Clip(text, mostShown))
	}
	const ask = "ask about more objects, or about such as are answered otherwise"
	switch {
	case d == nil:
		return "each object was asked about once, and nothing is compared: ask more often, or name other views"
	case d.Shown:
		return ""
	case math.IsNaN(float64(d.P)) || math.IsNaN(float64(d.Other)):
		return fmt.Sprintf("whether answers depend on the object is not known of %s whose answers can be compared, so "+
			"that answers which stay are no evidence: %s", words.Plural(d.Objects, "object", "objects"), ask)
	}
	return fmt.Sprintf("that answers depend on the object is not shown, for %s, and noise alone stays what it is, "+
		"too, so that answers which stay are no evidence: %s", d.lay(b.numbers), ask)
}

// empties are the views that are the same, and no evidence.
func empties(views []*View) {
	for _, v := range views {
		if v.State == Same {
			v.State = Empty
		}
	}
}
