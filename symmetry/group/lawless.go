package group

// Lawless is a set of elements that is taken for a group although it has no products and no inverses, such as given
// views of the same objects: it can be visited, and of laws it has none that could be asked about. A product that
// nobody knows is NaN, and so is an inverse.
type Lawless interface {
	Group
	Lawless() bool
}

// IsLawless reports whether g is no group.
func IsLawless(g Group) bool {
	l, ok := g.(Lawless)
	return ok && l.Lawless()
}
