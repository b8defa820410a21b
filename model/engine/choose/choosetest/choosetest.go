// Package choosetest says on which engines tests run, so that their result does not depend on what is installed.
package choosetest

import "nero/model/engine/choose"

// Host is this machine without the libraries that happen to lie on it: one that the variable NERO_ORT_LIB names takes
// part, any other does not.
func Host() choose.Places {
	p := choose.Host()
	if p.Library == "" {
		p.Library = choose.None
	}
	return p
}
