package space

// Listed is a value of an object of which somebody has listed several views, see package views.
type Listed interface {
	Value
	// Listed are the views by their number, the value among them; nil for a value alone. They must not be changed.
	Listed() []Value
	// among is a copy that has these views; those of another kind are left out.
	among(views []Value) Value
}

// Among is the first of some views of an object, which has all of them; nil where there is none, or where values of its
// kind have no views.
func Among(views []Value) Value {
	if len(views) == 0 {
		return nil
	}
	if l, ok := views[0].(Listed); ok {
		return l.among(views)
	}
	return nil
}

func listed[T Value](views []T) []Value {
	if views == nil {
		return nil
	}
	all := make([]Value, len(views))
	for i, v := range views {
		all[i] = v
	}
	return all
}

// only are values of one type.
func only[T Value](all []Value) []T {
	var out []T
	for _, v := range all {
		if x, ok := v.(T); ok {
			out = append(out, x)
		}
	}
	return out
}
