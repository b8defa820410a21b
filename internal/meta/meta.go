// Package meta holds tests of the whole tree: the layers between packages, documentation, licences, wording. It has no
// code of its own.
package meta
