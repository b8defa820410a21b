package audit

import "nero/symmetry/group"

// Label writes an element as people do: "90 deg", "(dx 3 px, dy -2 px)".
func Label(G group.Group, g group.Element) string { return group.Format(G, g) }
