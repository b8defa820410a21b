package action

import (
	"errors"
	"fmt"

	"nero/data/space"
	"nero/symmetry/group"
)

// Rules are the rules of this package: pictures, frames, masks, fields, boxes and feature maps under groups of the
// plane, volumes under groups of space, rows, edges, pairs and records of them under groups of space and permutations,
// feature vectors under any group, and scores where [Options] claims invariance. Put rules made by [ScoresRule] and
// [TensorRule] in front to declare more.
func Rules() Table {
	return Table{
		{
			Name: "image", Space: space.KindImage,
			Doc: "(g·x)(p) = x(g⁻¹p) with the chosen kernel and border rule; lattice elements by index; colors pixel " +
				"by pixel",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return pictures(g, s, o) },
		},
		{
			Name: "mask", Space: space.KindMask,
			Doc: "as image, always with the nearest label; 0 outside",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				return inPlace(g, func(g group.Group) (Action, error) { return some(NewMask(g, s, o, 0)) })
			},
		},
		{
			Name: "frames", Space: space.KindFrames,
			Doc: "every frame moves as an image, under flows by what has been reached at its time; shifts and " +
				"reversals of time move the frames",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return pictures(g, s, o) },
		},
		{
			Name: "volume", Space: space.KindVolume,
			Doc: "(g·v)(p) = v(g⁻¹p) in space: symmetries of the cube and whole shifts by index, others with the " +
				"chosen " +
				"kernel and border rule",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return some(NewVolume(g, s, o)) },
		},
		{
			Name: "field", Space: space.KindField,
			Doc: "(g·F)(p) = A F(g⁻¹p): places move as those of an image, vectors by the matrix A; time reversal " +
				"negates",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				return inPlace(g, func(g group.Group) (Action, error) { return some(NewField(g, s, o)) })
			},
		},
		{
			Name: "boxes", Space: space.KindBoxes,
			Doc: "corners are mapped; boxes that turn become their envelope, or oriented boxes if the options say so",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				return inPlace(g, func(g group.Group) (Action, error) { return some(NewBoxes(g, s, o)) })
			},
		},
		{
			Name: "rows", Space: space.KindRows,
			Doc: "numbers of a row by their type: positions A p + t, vectors A v, irreps by Wigner matrices; rows of " +
				"nodes are permuted",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return some(NewRows(g, s, o)) },
		},
		{
			Name: "signal", Space: space.KindSignal,
			Doc: "shifts of time by index or with the chosen kernel, around, under the border rule or in a window; " +
				"channels of a type move as rows do",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return some(NewSignal(g, s, o)) },
		},
		{
			Name: "links", Space: space.KindLinks,
			Doc: "permutations of the nodes renumber both ends of the edges, which keep their order",
			New: func(g group.Group, s space.Spec, _ Options) (Action, error) { return some(NewLinks(g, s)) },
		},
		{
			Name: "pairs", Space: space.KindPairs,
			Doc: "rows and columns are permuted together, and the numbers of a pair move by their type",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return some(NewPairs(g, s, o)) },
		},
		{
			Name: "record", Space: space.KindRecord,
			Doc: "every field by its own action; a field that nobody gives one is refused",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) { return some(NewRecord(g, s, o)) },
		},
		{
			Name: "invariant", Space: space.KindScores,
			Doc: "scores stay as they are: the user's claim, never a fallback",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				if !o.Invariant {
					return nil, fmt.Errorf("port %q is not declared invariant and has no representation: %w", s.Name,
						errors.ErrUnsupported)
				}
				return Trivial{G: g}, nil
			},
		},
		{
			Name: "trivial", Space: space.KindTensor,
			Doc: "every channel moves like a picture; a vector stays as it is",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				if s.Type != "trivial" {
					return nil, typed(s, "trivial")
				}
				return some(NewTensor(g, s, o, Identical()))
			},
		},
		{
			Name: "regular", Space: space.KindTensor,
			Doc: "channel f·|G|+k is element k of field f; the group axis is permuted by left multiplication",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				if s.Type != "regular" {
					return nil, typed(s, "regular")
				}
				f, ok := g.(group.Finite)
				if !ok {
					return nil, fmt.Errorf("%s is not finite, so it has no regular representation on channels: %w",
						g.Name(), errors.ErrUnsupported)
				}
				return some(NewTensor(g, s, o, Regular(f)))
			},
		},
		{
			Name: "typed", Space: space.KindTensor,
			Doc: "a vector of numbers of a type, such as irreps, moves by its matrix",
			New: func(g group.Group, s space.Spec, o Options) (Action, error) {
				if s.Type == "" || s.Type == "trivial" || s.Type == "regular" || len(s.Shape) != 1 || s.Shape[0] < 1 {
					return nil, fmt.Errorf(
						"port %q: this rule is for feature vectors of known length whose type is one of rows: %w",
						s.Name, errors.ErrUnsupported)
				}
				rep, err := Typed(g, s.Type, s.Shape[0])
				if err != nil {
					return nil, err
				}
				return some(NewTensor(g, s, o, rep))
			},
		},
	}
}

// ScoresRule declares a representation for the scores of one port.
func ScoresRule(port string, rep Representation) Rule {
	return Rule{
		Name: rep.name, Space: space.KindScores, Doc: "scores of port " + port + " move by the representation " +
			rep.name,
		New: func(g group.Group, s space.Spec, _ Options) (Action, error) {
			if s.Name != port {
				return nil, fmt.Errorf("declared for port %q, not for %q: %w", port, s.Name, errors.ErrUnsupported)
			}
			return some(NewScores(g, s, rep))
		},
	}
}

// TensorRule declares a representation for the channels of one port.
func TensorRule(port string, rep Representation) Rule {
	return Rule{
		Name: rep.name, Space: space.KindTensor, Doc: "channels of port " + port + " move by the representation " +
			rep.name,
		New: func(g group.Group, s space.Spec, o Options) (Action, error) {
			if s.Name != port {
				return nil, fmt.Errorf("declared for port %q, not for %q: %w", port, s.Name, errors.ErrUnsupported)
			}
			return some(NewTensor(g, s, o, rep))
		},
	}
}

// typed says that a rule needs a declared type.
func typed(s space.Spec, want string) error {
	got := "no type is declared"
	if s.Type != "" {
		got = "its type is " + s.Type
	}
	return fmt.Errorf("port %q: %s, this rule is for %s: %w", s.Name, got, want, errors.ErrUnsupported)
}

// some turns a nil pointer that comes with an error into a nil interface.
func some[A Action](a A, err error) (Action, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}
