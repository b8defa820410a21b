// Package siege holds campaigns against the program: what is damaged, hostile or in a hurry, in seeded draws, each with
// a budget of time for one case. A short draw of each is part of the ordinary tests; the whole runs behind package
// slow:
//
//	go test -tags slow ./internal/siege
package siege
