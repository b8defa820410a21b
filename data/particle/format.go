package particle

import (
	"cmp"
	"io/fs"

	"nero/data/dataset"
)

// Format is pairs that are rendered from the settings of a study and so need no file.
var Format = &dataset.Format{
	Name: "particles", Doc: "Pairs of particle images, rendered from flows that are known exactly.",
	Rendered: true,
	Open:     func(_ fs.FS, s dataset.Spec) (dataset.Dataset, error) { return open(s.Particles) },
}

// open renders what is asked for, the rest as [Default] says.
func open(p dataset.Particles) (*Set, error) {
	spec := Default(cmp.Or(p.Count, 120), p.Seed)
	for _, f := range p.Flows {
		k, err := ParseKind(f)
		if err != nil {
			return nil, err
		}
		spec.Kinds = append(spec.Kinds, k)
	}
	if p.Size != [2]int{} {
		spec.Height, spec.Width = p.Size[0], p.Size[1]
	}
	spec.Optics.Density = cmp.Or(p.Density, spec.Optics.Density)
	spec.Optics.Diameter = cmp.Or(p.Diameter, spec.Optics.Diameter)
	spec.Scene.Peak = cmp.Or(p.Shift, spec.Scene.Peak)
	spec.Scene.Spread = cmp.Or(p.Turn, spec.Scene.Spread)
	spec.Scene.Mean = cmp.Or(p.Mean, spec.Scene.Mean)
	spec.Scene.Heading, spec.Optics.Noise, spec.Optics.Loss = p.Heading, p.Noise, p.Loss
	return New(spec)
}
