package audit

import (
	"fmt"
	"math"
)

// mostWork is how many multiply-adds a check may spend by its defaults: some ten seconds of one processor core on ONNX
// Runtime's shared library. It is a count and no time, so that the same model is audited alike on every machine.
const mostWork = 5e10

// afford lowers the counts of a check that say by [Param.Least] that fewer will do, where what it would spend on a
// model whose predictions are expensive is beyond [mostWork], and says so. What a caller set stays as it is. The count
// that is the most above its least is lowered first, by a quarter at a time.
func (p *Pass) afford(given map[string]float64) {
	c := p.Check
	cost := float64(p.Subject.Cost) * float64(max(p.Policy.Average, 1))
	if !(cost > 0) {
		return
	}
	var own []Param
	for _, q := range c.Params {
		_, set := given[c.Name+"."+q.Name]
		if _, of := given[c.Family+"."+q.Name]; c.Family != "" && of {
			set = true
		}
		if q.Least > 0 && !set {
			own = append(own, q)
		}
	}
	for cost*float64(c.price(p)) > mostWork {
		var most *Param
		above := 1.0
		for i := range own {
			if r := p.params[own[i].Name] / own[i].Least; r > above {
				most, above = &own[i], r
			}
		}
		if most == nil {
			break
		}
		p.params[most.Name] = max(most.Least, math.Floor(p.params[most.Name]*3/4))
	}
	for _, q := range own {
		if v := p.params[q.Name]; v < q.Default {
			p.Measure(Number(fmt.Sprintf("%s, %s unless one prediction costs as much as here (%s multiply-adds)",
				q.Name,
				num(q.Default), num(float64(p.Subject.Cost))), v, q.Unit))
		}
	}
}
