package space

// Info is what is known of a kind before there is a value of it, a documented constant beside the type.
type Info struct {
	Kind Kind
	// Doc is one line without a full stop.
	Doc string
	// Linear says that values can be added and multiplied by numbers: they are [Linear], have means and norms.
	Linear bool
	// Planar says that values lie, or may lie, on the pixels of a plane.
	Planar bool
	// Labelled says that values have a class at every pixel: they are [Labelled].
	Labelled bool
	// Gridded says that values are sampled on a grid of another kind than pixels: moments of time, voxels.
	Gridded bool
	// Sequence says that values run along time: they are a [Sequence].
	Sequence bool
	// Words says that values are texts, or bytes, which go to models that read such and to no others.
	Words bool
	// Zero is a value of zeros, by what [Value].Dims of it shall be; boxes are an empty set, links have no nodes. Nil
	// for records, of which the dims do not say what the fields are.
	Zero func(dims []int) Value
}

// Kinds lists every kind that this package knows.
func Kinds() []*Info {
	return []*Info{
		&scoresKind, &imageKind, &tensorKind, &fieldKind, &rowsKind, &pairsKind, &signalKind, &framesKind,
		&volumeKind, &maskKind, &boxesKind, &linksKind, &textKind, &recordKind,
	}
}

// Info is what is known of the kind; nil for one that is not in [Kinds].
func (k Kind) Info() *Info {
	for _, i := range Kinds() {
		if i.Kind == k {
			return i
		}
	}
	return nil
}

// List are kinds that a program knows beside those of [Kinds].
type List []*Info

// Info is what is known of the kind, here or in [Kinds]; nil for one that is in neither.
func (l List) Info(k Kind) *Info {
	for _, i := range l {
		if i.Kind == k {
			return i
		}
	}
	return k.Info()
}

// LinearKinds are the kinds whose values are [Linear].
func LinearKinds() []Kind {
	var all []Kind
	for _, i := range Kinds() {
		if i.Linear {
			all = append(all, i.Kind)
		}
	}
	return all
}
