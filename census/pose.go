package census

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/present/words"
	"nero/symmetry/matrix"
)

// leastLong is how much longer than broad a sample has to be to have an axis: the difference of its two largest
// principal moments over their sum.
const leastLong = 0.05

// Pose is how samples lie: the axes along which they are longest, which have no ends, so that 0° and 180° are one.
type Pose struct {
	// Mean is the mean axis: in the plane its angle in degrees, counter-clockwise from the right, 0 to 180; in space a
	// unit vector.
	Mean []document.Number `json:"mean"`
	// Unit is deg, or empty for a vector.
	Unit string `json:"unit,omitempty"`
	// Resultant is 1 where all axes are one and 0 where they spread evenly: of the mean of u·uᵀ the largest eigenvalue
	// λ
	// gives (dλ - 1)/(d - 1), in the plane the length of the mean of exp(2iα).
	Resultant document.Number `json:"resultant"`
	// Quantiles are the degrees from the mean axis within which the shares lie.
	Quantiles []Quantile `json:"quantiles"`
	// Rose counts the samples by their axes: in the plane by angle, from 0 to 180 degrees, in space by how far they are
	// from the mean axis, from 0 to 90 degrees, in as many equal steps as there are numbers.
	Rose []int `json:"rose,omitempty"`
	// Samples have an axis, Round ones are as broad as long.
	Samples  int    `json:"samples"`
	Round    int    `json:"round"`
	Sentence string `json:"sentence"`
}

// Quantile is how many degrees from the mean axis a share of the samples lies at most.
type Quantile struct {
	Share   float64         `json:"share"`
	Degrees document.Number `json:"degrees"`
}

// moments are the weighted second moments of points of a plane or of space, about their middle; nil where a value is
// nothing of which one could say how it lies.
func moments(v space.Value, kinds space.List) *matrix.Square {
	for _, leaf := range space.Leaves(v) {
		if p, ok := leaf.(space.Pictured); ok {
			return spread(2, pixels(p.Pictures()[0]))
		}
		info := kinds.Info(leaf.Kind())
		c, ok := leaf.(space.Counted)
		if !ok || info == nil || info.Gridded || !info.Linear || c.Count() < 3 || c.Columns() != 2 && c.Columns() != 3 {
			continue
		}
		return spread(c.Columns(), func(yield func(weight float64, p []float64)) {
			for i := range c.Count() {
				yield(1, c.Row(i))
			}
		})
	}
	return nil
}

// hasAxis reports whether values like this one may have an axis.
func hasAxis(v space.Value, kinds space.List) bool { return moments(v, kinds) != nil }

// pixels are the pixels of a picture by how far they are from the mean of its border, x to the right and y up.
func pixels(m *space.Image) func(yield func(weight float64, p []float64)) {
	return func(yield func(weight float64, p []float64)) {
		weight := make([]float64, m.H*m.W)
		for k := range m.C {
			plane, sum, n := m.Plane(k), 0.0, 0
			for i, v := range plane {
				if y, x := i/m.W, i%m.W; y == 0 || x == 0 || y == m.H-1 || x == m.W-1 {
					sum, n = sum+v, n+1
				}
			}
			ground := sum / float64(n)
			for i, v := range plane {
				weight[i] += math.Abs(v - ground)
			}
		}
		for i, w := range weight {
			yield(w, []float64{float64(i % m.W), -float64(i / m.W)})
		}
	}
}

// spread is the second moments; those of points that weigh nothing are zeros.
func spread(d int, each func(yield func(weight float64, p []float64))) *matrix.Square {
	total, mean := 0.0, make([]float64, d)
	each(func(w float64, p []float64) {
		total += w
		for j, x := range p {
			mean[j] += float64(w * x)
		}
	})
	out := matrix.New(d)
	if !(total > 0) {
		return &out
	}
	for j := range mean {
		mean[j] /= total
	}
	each(func(w float64, p []float64) {
		for a := range d {
			for b := range d {
				out.V[a*d+b] += float64(w*(p[a]-mean[a])*(p[b]-mean[b])) / total
			}
		}
	})
	return &out
}

// principal is the unit vector that belongs to the largest eigenvalue of a symmetric matrix, with the two largest.
func principal(m *matrix.Square) (v []float64, first, second float64) {
	var values []float64
	m.Function(func(x float64) float64 {
		values = append(values, x)
		return x
	})
	slices.Sort(values)
	first, second = values[len(values)-1], values[len(values)-2]
	onto := m.Function(func(x float64) float64 {
		if x == first {
			return 1
		}
		return 0
	})
	// The longest column of the projection is along the axis.
	best := -1.0
	for j := range m.N {
		column, length := make([]float64, m.N), 0.0
		for i := range m.N {
			column[i] = onto.V[i*m.N+j]
			length += float64(column[i] * column[i])
		}
		if length > best {
			best, v = length, column
		}
	}
	for i := range v {
		v[i] /= math.Sqrt(best)
	}
	return v, first, second
}

// axisOf is the axis along which a value is longest, nil where it has none.
func axisOf(v space.Value, kinds space.List) axis {
	m := moments(v, kinds)
	if m == nil || !m.Finite() {
		return nil
	}
	u, first, second := principal(m)
	if !(first-second > leastLong*(first+second)) {
		return nil
	}
	return u
}

// pose is how the samples lie; nil where nothing is known of that.
func (t *taker) pose() *Pose {
	if t.axes == nil {
		return nil
	}
	var known []axis
	for _, i := range t.reported {
		if a := t.axes[i]; a != nil {
			known = append(known, a)
		}
	}
	out := &Pose{Samples: len(known), Round: len(t.reported) - len(known), Resultant: document.Number(math.NaN())}
	if len(known) < 3 {
		out.Sentence = "Samples are as broad as long, so they have no axis to be posed by."
		return out
	}
	d := len(known[0])
	sum := matrix.New(d)
	for _, u := range known {
		for a := range d {
			for b := range d {
				sum.V[a*d+b] += u[a] * u[b] / float64(len(known))
			}
		}
	}
	mean, first, _ := principal(&sum)
	out.Resultant = document.Number((float64(float64(d)*first) - 1) / float64(d-1))
	var off []float64
	for _, u := range known {
		dot := 0.0
		for a := range d {
			dot += float64(u[a] * mean[a])
		}
		off = append(off, degrees(elementary.Acos(min(math.Abs(dot), 1))))
	}
	slices.Sort(off)
	for _, share := range []float64{0.5, 0.9, 0.95} {
		k := int(math.Ceil(share * float64(len(off))))
		out.Quantiles = append(out.Quantiles, Quantile{share, document.Number(off[k-1])})
	}
	out.Rose = rose(known, off)
	within := float64(out.Quantiles[1].Degrees)
	where := ""
	if d == 2 {
		angle := float64(degrees(elementary.Atan2(mean[1], mean[0])))
		angle = math.Mod(angle+360, 180)
		out.Mean, out.Unit = []document.Number{document.Number(angle)}, "deg"
		where = fmt.Sprintf("%.0f° (90° is upright, counter-clockwise from the right)", angle)
	} else {
		largest := 0.0 // one of the two ends is that at which the largest component is positive
		for _, x := range mean {
			if math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		var text []string
		for _, x := range mean {
			x = math.Copysign(1, largest) * x
			out.Mean = append(out.Mean, document.Number(x))
			text = append(text, words.Tick(math.Round(100*x)/100+0, 3))
		}
		where = "(" + strings.Join(text, ", ") + ")"
	}
	out.Sentence = fmt.Sprintf("90 %% of the samples have their long axis within %.0f° of %s; resultant length %.2f, "+
		"of 1 if all lie alike and 0 if they lie anyhow.", within, where, float64(out.Resultant))
	return out
}

// petals is in how many steps a rose counts.
const petals = 18

// rose counts axes of the plane by angle, and those of space by how many degrees they are off the mean.
func rose(known []axis, off []float64) []int {
	out := make([]int, petals)
	count := func(share float64) { out[min(int(share*petals), petals-1)]++ }
	if len(known[0]) != 2 {
		for _, x := range off {
			count(x / 90)
		}
		return out
	}
	for _, u := range known {
		turned := float64(degrees(elementary.Atan2(u[1], u[0])))
		count(math.Mod(turned+360, 180) / 180)
	}
	return out
}

// nearFrame is within how many degrees of the longer side of pictures a mean axis may come from that side alone.
const nearFrame = 15

// framed warns of axes that may be those of the frame: what fills a wide picture evenly is wide; "" for nothing.
func (t *taker) framed(p *Pose) string {
	if p == nil || len(p.Mean) != 1 || t.height == t.width {
		return ""
	}
	side := 0.0
	if t.height > t.width {
		side = 90
	}
	off := math.Abs(float64(p.Mean[0]) - side)
	if min(off, 180-off) > nearFrame {
		return ""
	}
	return fmt.Sprintf("the pictures are %d high and %d wide, and what fills such a frame evenly lies along its "+
		"longer side: how the samples lie may say no more than that", t.height, t.width)
}

func degrees(radians float64) float64 { return radians * (180 / math.Pi) }
