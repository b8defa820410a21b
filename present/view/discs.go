package view

import (
	"math"
	"slices"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Discs cut the rotations about axes in the planes xy, xz and yz into ring sectors: the angle is that of the axis in
// its plane, the radius the angle of the rotation, the middle the identity; the colour is the value.
var Discs = &Layout{
	Name: "discs",
	Doc: "Discs: rotations of space about axes in the planes xy, xz and yz. The direction on a disc is that of the " +
		"axis in its plane, the distance from the middle the angle of the rotation, to 180° at the rim; the middle " +
		"is the " +
		"identity. Every element has a part of the disc; bright is good. One colour everywhere is a model whose " +
		"value does not depend on the rotation.",
	Takes: func(o Orbit) bool {
		s, ok := SpaceAxesOf(o.Chart)
		return ok && s.sliced(o.Elements)
	},
	At:      turned,
	Panels:  discs,
	Colored: true, Cut: true, Nameless: true,
}

// turned puts an element at the angle of its rotation, beyond the switch if it inverts space.
func turned(o Orbit, e group.Element, p *Point) int {
	space, _ := SpaceAxesOf(o.Chart)
	p.X = space.Turn(e)
	return one(space.improper(e))
}

// discs adds one panel for each model, plane and side of the inversion that elements lie on.
func discs(o Orbit, f *Figure, p Panel, several bool) {
	at, _ := SpaceAxesOf(o.Chart)
	first := true
	for _, series := range p.Series {
		var stats []Stat
		for _, st := range p.Stats {
			if st.Model == series.Model {
				stats = append(stats, st)
			}
		}
		for _, plane := range planes {
			own, ways := series, map[int64]bool{}
			own.Points = nil
			for _, q := range series.Points {
				e := o.Elements[q.Element][at.R : at.R+3]
				if math.Abs(e[plane.out]) > flat {
					continue
				}
				q.X, q.Y = plane.direction(e), at.Turn(o.Elements[q.Element])
				if q.Y > flat {
					ways[int64(math.Round(q.X/flat))] = true
				}
				own.Points = append(own.Points, q)
			}
			if len(ways) < 3 {
				continue // the axis that the plane shares with another
			}
			q := Panel{
				Title: series.Name + ", axes in " + plane.name, N: p.N, Series: []Series{own},
				Sectors: sectors(own.Points), Stats: stats,
			}
			if series.Mirrored {
				q.Title += ", " + side(o.Chart)
			}
			if several {
				q.Title = p.Title + ": " + q.Title
			}
			if first {
				q.Picture, q.Note, first = p.Picture, p.Note, false
			}
			stats = nil // of the model, said once
			f.Panels = append(f.Panels, q)
		}
	}
}

// plane names the coordinates of a rotation vector that are to the right, upward and 0.
type plane struct {
	name      string
	x, y, out int
}

// direction is that of an axis in the plane, 0 to 360 degrees.
func (p plane) direction(r group.Element) float64 {
	a := elementary.Atan2(r[p.y], r[p.x]) * 180 / math.Pi
	if a < 0 {
		a += 360
	}
	return a
}

// planes are the planes in which the axes of the discs lie: the axis at psi is (cos psi, sin psi, 0), (cos psi, 0, sin
// psi) and (0, cos psi, sin psi).
var planes = [...]plane{{"xy", 0, 1, 2}, {"xz", 0, 2, 1}, {"yz", 1, 2, 0}}

// flat is how far, in degrees, the rotation vector of an element of a disc may be from its plane.
const flat = 1e-6

// sliced reports whether all elements are rotations about axes in the three planes, with or without inversion, in one
// of which axes have three directions or more.
func (s SpaceAxes) sliced(elements []group.Element) bool {
	var turns []float64
	var ways [len(planes)]map[int64]bool
	for _, e := range elements {
		if s.shifted(e) || math.Abs(e[s.R]) > flat && math.Abs(e[s.R+1]) > flat && math.Abs(e[s.R+2]) > flat {
			return false
		}
		turns = append(turns, math.Round(s.Turn(e)/flat))
		for i, p := range planes {
			if r := e[s.R : s.R+3]; math.Abs(r[p.out]) <= flat && s.Turn(e) > flat {
				if ways[i] == nil {
					ways[i] = map[int64]bool{}
				}
				ways[i][int64(math.Round(p.direction(r)/flat))] = true
			}
		}
	}
	slices.Sort(turns)
	return len(slices.Compact(turns)) >= 3 &&
		slices.ContainsFunc(ways[:], func(w map[int64]bool) bool { return len(w) >= 3 })
}

// Sector is the part of a disc that stands for one element: between two directions of the axis and two angles, all in
// degrees. From is at most To, which may be beyond 360; a sector all the way round has To = From + 360.
type Sector struct {
	// index into the points of the series
	Point        int
	From, To     float64
	Inner, Outer float64
}

// sectors cut a disc into one part for each point, X being the direction of the axis and Y the angle: rings around the
// identity whose borders are half-way between neighbors, so that no part is empty. Half turns about opposite axes are
// one element, which has two parts.
func sectors(pts []Point) []Sector {
	type cell struct {
		at    float64
		point int
	}
	rings := map[int64][]cell{}
	var turns []float64
	for i, p := range pts {
		k := int64(math.Round(p.Y / flat))
		if rings[k] == nil {
			turns = append(turns, p.Y)
		}
		rings[k] = append(rings[k], cell{math.Mod(p.X+360, 360), i})
		if math.Abs(p.Y-180) <= flat {
			rings[k] = append(rings[k], cell{math.Mod(p.X+180, 360), i})
		}
	}
	slices.Sort(turns)
	var out []Sector
	for n, t := range turns {
		inner, outer := 0.0, t
		if n > 0 {
			inner = (turns[n-1] + t) / 2
		}
		if n+1 < len(turns) {
			outer = (t + turns[n+1]) / 2
		}
		ring := rings[int64(math.Round(t/flat))]
		slices.SortStableFunc(ring, func(a, b cell) int { return compare(a.at, b.at) })
		if t <= flat || len(ring) == 1 {
			out = append(out, Sector{Point: ring[0].point, To: 360, Inner: inner, Outer: outer})
			continue
		}
		for i, c := range ring {
			before, after := ring[(i+len(ring)-1)%len(ring)].at, ring[(i+1)%len(ring)].at
			if i == 0 {
				before -= 360
			}
			if i == len(ring)-1 {
				after += 360
			}
			out = append(out, Sector{
				Point: c.point, From: (before + c.at) / 2, To: (c.at + after) / 2, Inner: inner,
				Outer: outer,
			})
		}
	}
	return out
}
