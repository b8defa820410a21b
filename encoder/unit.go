package encoder

import (
	"math"

	"nero/data/split"
	"nero/measure/embedding"

	"gonum.org/v1/gonum/mat"
)

// inUnit is the subject with features in a unit in which squares are finite and not 0, and the unit; the subject itself
// where that is 1. Features of the other release are in the same unit where both find room in one. Else they have one
// of their own, and times is by what they are multiplied to be in that of the model; it may be infinite.
func (s *Subject) inUnit() (out *Subject, unit, times float64) {
	var own, other []*mat.Dense
	for _, x := range s.Sides {
		own, other = append(append(own, x.At...), x.Again), append(other, x.Other...)
		own = append(append(own, x.Back...), x.Ladder...)
	}
	unit, foreign := embedding.Unit(own...), embedding.Unit(other...)
	if r := foreign / unit; r >= 1/room && r <= room {
		foreign = unit
	}
	if unit == 1 && foreign == 1 {
		return s, 1, 1
	}
	c := *s
	c.Sides = map[split.Side]*Side{}
	for side, x := range s.Sides {
		y := *x
		y.At, y.Back, y.Ladder = inUnit(unit, x.At), inUnit(unit, x.Back), inUnit(unit, x.Ladder)
		y.Again, y.Other = embedding.In(unit, x.Again), inUnit(foreign, x.Other)
		c.Sides[side] = &y
	}
	return &c, unit, max(foreign/unit, math.SmallestNonzeroFloat64)
}

// room is how many times as large features may be as those of which a unit is that.
const room = 0x1p90

// inUnit are tables in a unit.
func inUnit(unit float64, tables []*mat.Dense) []*mat.Dense {
	if unit == 1 || tables == nil {
		return tables
	}
	out := make([]*mat.Dense, len(tables))
	for k, t := range tables {
		out[k] = embedding.In(unit, t)
	}
	return out
}

// inUnit is the model with vectors in such a unit.
func (s *Sequenced) inUnit() (*Sequenced, float64) {
	var all []*mat.Dense
	for _, x := range s.Sides {
		all = append(all, x.Single...)
		for _, l := range x.By {
			all = append(all, l.Base, l.Shuffled, l.Other)
		}
	}
	unit := embedding.Unit(all...)
	if unit == 1 {
		return s, 1
	}
	c := *s
	c.Sides = map[split.Side]*SequencedSide{}
	for side, x := range s.Sides {
		y := *x
		y.Single, y.By = inUnit(unit, x.Single), nil
		for _, l := range x.By {
			z := inUnit(unit, []*mat.Dense{l.Base, l.Shuffled, l.Other})
			y.By = append(y.By, SequencedLength{z[0], z[1], z[2], l.Last})
		}
		c.Sides[side] = &y
	}
	return &c, unit
}
