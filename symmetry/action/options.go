package action

// OptionsOf returns the choices that an action on a grid was made with, defaults filled in. It is false for actions of
// other packages and for those without a grid, such as [Trivial], [Scores], [Boxes] and vectors.
func OptionsOf(a Action) (Options, bool) {
	switch a := a.(type) {
	case *Image:
		return a.opt, true
	case *factors:
		return OptionsOf(a.others)
	case *disc:
		o, ok := OptionsOf(a.inner)
		o.Region = Disc
		return o, ok
	case *Mask:
		return a.opt, true
	case *Volume:
		return a.opt, true
	case *Frames:
		return a.opt, true
	case *Field:
		return a.opt, true
	case *Tensor:
		if a.planar != nil {
			return a.planar.opt, true
		}
	}
	return Options{}, false
}

// RepresentationOf returns how an action moves the channels of scores, vectors and feature maps, and the components of
// fields. It is false for actions of other packages and for those that leave channels where they are, such as [Image].
func RepresentationOf(a Action) (Representation, bool) {
	switch a := a.(type) {
	case *disc:
		return RepresentationOf(a.inner)
	case *Scores:
		return a.rep, true
	case *Tensor:
		return a.rep, true
	case *Field:
		return a.rep, true
	}
	return Representation{}, false
}
