package metric

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// Pixels says how many pixels of one class a mask and its truth have. Pixels that are void in the truth count nowhere.
type Pixels struct {
	// Class is -1 in place of all counts where there are none: the prediction has a pixel without a class.
	Class int32
	// Both are the pixels of the class in both masks, Got those in the prediction, Want those in the truth.
	Both, Got, Want int32
}

// uncounted is the evidence of a sample whose prediction cannot be counted.
func uncounted() []Pixels { return []Pixels{{Class: -1}} }

// PixelsOf counts the pixels of c.At against c.Truth, one entry for each class in either, by rising class; nil for
// values that are no masks of one size.
func PixelsOf(c Case) []Pixels {
	x, y, ok := space.Both[*space.Mask](c.At, c.Truth)
	if !ok || x.H != y.H || x.W != y.W || len(x.Label) != len(y.Label) {
		return nil
	}
	var few [256]Pixels // classes are few; larger numbers take a map
	var many map[int32]*Pixels
	of := func(l int32) *Pixels {
		if l < int32(len(few)) {
			return &few[l]
		}
		if many == nil {
			many = map[int32]*Pixels{}
		}
		if many[l] == nil {
			many[l] = &Pixels{}
		}
		return many[l]
	}
	for i, want := range y.Label {
		got := x.Label[i]
		switch {
		case want < 0:
			continue
		case got < 0:
			return uncounted()
		}
		p := of(got)
		p.Got++
		if got == want {
			p.Both++
			p.Want++
			continue
		}
		of(want).Want++
	}
	out := []Pixels{}
	for l := range few {
		if p := few[l]; p.Got+p.Want > 0 {
			p.Class = int32(l)
			out = append(out, p)
		}
	}
	for l, p := range many {
		p.Class = l
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Pixels) int { return int(a.Class) - int(b.Class) })
	return out
}

// pixels are the counts of a case, made where nobody has made them.
func pixels(c Case) []Pixels {
	if c.Pixels != nil {
		return c.Pixels
	}
	return PixelsOf(c)
}

// tally are counts of many samples: int64, for they are sums.
type tally struct{ both, got, want int64 }

// iou is the intersection over the union; NaN for a class that is nowhere.
func (t tally) iou() float64 { return float64(t.both) / float64(t.got+t.want-t.both) }

// dice is twice the intersection over the sum of both; NaN for a class that is nowhere.
func (t tally) dice() float64 { return float64(2*t.both) / float64(t.got+t.want) }

// recall is the share of the pixels of the class that are found; NaN for a class that the truth has not.
func (t tally) recall() float64 { return float64(t.both) / float64(t.want) }

// tallies are counts by class, of classes that are there, by rising class.
type tallies []tally

// mean is that of a number of each class that has one.
func (ts tallies) mean(of func(tally) float64) float64 {
	sum, n := 0.0, 0
	for _, t := range ts {
		if v := of(t); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// right is the share of all pixels that have their class.
func (ts tallies) right() float64 {
	var both, all int64
	for _, t := range ts {
		both, all = both+t.both, all+t.want
	}
	return float64(both) / float64(all)
}

// ofPixels makes a metric of counts of pixels: of a sample by its own, of samples by the sums of theirs. With a class
// of
// 0 or above it reads that class alone.
func ofPixels(m Metric, class int, of func(ts tallies) float64) *Metric {
	m.Ref, m.Better, m.Range, m.Spaces, m.OfPixels = Target, Higher, [2]float64{0, 1}, masks, true
	m.Measure = func(c Case) float64 {
		p := pixels(c)
		if p == nil {
			return math.NaN()
		}
		return newCounts([]Evidence{{Pixels: p}}, class).at([]int{1}, of)
	}
	m.sorted = func(e []Evidence) func(count []int) float64 {
		c := newCounts(e, class)
		return func(count []int) float64 { return c.at(count, of) }
	}
	m.Pooled = func(e []Evidence) float64 {
		count := make([]int, len(e))
		for i := range count {
			count[i] = 1
		}
		return m.sorted(e)(count)
	}
	return &m
}

// counts are those of a set of samples, by class, so that a resample is one pass.
type counts struct {
	// class × sample that has some of it
	of     [][]int
	tally  [][]tally
	broken []int
	// scratch
	sums tallies
}

func newCounts(e []Evidence, class int) *counts {
	c := &counts{}
	at := map[int32]int{}
	var classes []int32
	for _, x := range e {
		for _, p := range x.Pixels {
			if _, ok := at[p.Class]; !ok && p.Class >= 0 && (class < 0 || int(p.Class) == class) {
				at[p.Class] = 0
				classes = append(classes, p.Class)
			}
		}
	}
	slices.Sort(classes) // sums of numbers that are rounded have an order
	for i, l := range classes {
		at[l] = i
	}
	c.of, c.tally = make([][]int, len(classes)), make([][]tally, len(classes))
	c.sums = make(tallies, len(classes))
	for i, x := range e {
		for _, p := range x.Pixels {
			k, ok := at[p.Class]
			if p.Class < 0 {
				c.broken = append(c.broken, i)
			}
			if ok {
				c.of[k] = append(c.of[k], i)
				c.tally[k] = append(c.tally[k], tally{int64(p.Both), int64(p.Got), int64(p.Want)})
			}
		}
	}
	return c
}

// at is a number of a resample; NaN if a sample in it has no counts.
func (c *counts) at(count []int, of func(tallies) float64) float64 {
	if slices.ContainsFunc(c.broken, func(i int) bool { return count[i] > 0 }) {
		return math.NaN()
	}
	for k, samples := range c.of {
		var t tally
		for j, i := range samples {
			n, x := int64(count[i]), c.tally[k][j]
			t.both, t.got, t.want = t.both+n*x.both, t.got+n*x.got, t.want+n*x.want
		}
		c.sums[k] = t
	}
	return of(c.sums)
}

// MaskIoU is the mean over classes of intersection over union, as segmentation is judged by.
var MaskIoU = ofPixels(Metric{
	Title: "mean IoU",
	Name:  "miou", Says: "reaches a mean IoU of %s",
	Doc: "mean over the classes that occur of pixels of the class in mask and truth over pixels in either; of " +
		"samples, " +
		"both are summed first, as in PASCAL VOC (Everingham et al. 2015) and Cityscapes; void pixels count for " +
		"nothing",
}, -1, func(ts tallies) float64 { return ts.mean(tally.iou) })

// MaskDice is the mean over classes of the Dice coefficient.
var MaskDice = ofPixels(Metric{
	Title: "mean Dice",
	Name:  "mean_dice",
	Doc: "mean over the classes that occur of 2·both / (pixels of the class in the mask + in the truth), Dice " +
		"1945; of " +
		"samples, counts are summed first; void pixels count for nothing",
}, -1, func(ts tallies) float64 { return ts.mean(tally.dice) })

// PixelAccuracy is the share of pixels with the right class.
var PixelAccuracy = ofPixels(Metric{
	Name: "pixel_accuracy",
	Doc: "share of the pixels that have the class of the truth, of samples of all their pixels together (Long et al. " +
		"2015); a large background raises it, so read miou beside it; void pixels count for nothing",
}, -1, tallies.right)

// ClassIoU is the intersection over union of one class, a metric for each.
var ClassIoU = byClass(Metric{
	Title: "IoU of a class",
	Name:  "class_iou",
	Doc: "pixels of one class in mask and truth over pixels in either, both summed over samples first; a study " +
		"that says " +
		"class_iou has one for each class, class_iou:NAME or class_iou:NUMBER is that of one; void pixels count for " +
		"nothing",
}, tally.iou)

// ClassDice is the Dice coefficient of one class, a metric for each.
var ClassDice = byClass(Metric{
	Title: "Dice of a class",
	Name:  "class_dice",
	Doc: "2·both / (pixels of one class in the mask + in the truth), counts summed over samples first; a study " +
		"that says " +
		"class_dice has one for each class, class_dice:NAME or class_dice:NUMBER is that of one; void pixels count " +
		"for " +
		"nothing",
}, tally.dice)

// byClass makes a family of metrics, one for each class.
func byClass(m Metric, of func(tally) float64) *Metric {
	all := ofPixels(m, -1, func(ts tallies) float64 { return ts.mean(of) })
	all.ByClass = func(class int, name string) *Metric {
		one := m
		one.Name = m.Name + part + strconv.Itoa(class)
		one.Title = strings.TrimSuffix(m.Title, "a class") + cmp.Or(name, "class "+strconv.Itoa(class))
		what := "class " + strconv.Itoa(class)
		if name != "" {
			one.Name += part + plainly(name)
			what += " (" + name + ")"
		}
		head, tail, _ := strings.Cut(m.Doc, "; a study")
		_, void, _ := strings.Cut(tail, "; ")
		one.Doc = "of " + what + ": " + head + "; " + void
		return ofPixels(one, class, func(ts tallies) float64 { return ts.mean(of) })
	}
	return all
}

// part divides the name of a metric from what it is of: class_iou:1:road, worst:accuracy.
const part = ":"

// plainly is the name of a class as it can stand in the name of a metric.
func plainly(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r > 0x7f:
			return r
		}
		return '_'
	}, name)
}

// ClassOf is the number of the class that the text behind class_iou: means, by number or by the name of a class; -1 for
// none.
func ClassOf(text string, names []string) int {
	number, _, _ := strings.Cut(text, part)
	if k, err := strconv.Atoi(number); err == nil && k >= 0 && strconv.Itoa(k) == number {
		return k
	}
	return slices.IndexFunc(names, func(n string) bool { return n == text || plainly(n) == text })
}

// ofClass reads "class_iou:1" and "class_iou:1:road".
func (all List) ofClass(name string) (*Metric, bool) {
	family, rest, ok := strings.Cut(name, part)
	k := slices.IndexFunc(all, func(m *Metric) bool { return m.Name == family && m.ByClass != nil })
	if !ok || k < 0 {
		return nil, false
	}
	number, class, _ := strings.Cut(rest, part)
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > math.MaxInt32 || strconv.Itoa(n) != number {
		return nil, false
	}
	return all[k].ByClass(n, class), true
}

// segmentation lists the metrics of masks against truth.
func segmentation() []*Metric {
	return []*Metric{MaskIoU, ClassIoU, MaskDice, ClassDice, PixelAccuracy}
}
