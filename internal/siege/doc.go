// Package siege holds campaigns against the program: what is damaged, hostile or in a hurry, in seeded draws, each with
// a budget of time for one case. A short draw of each is part of the ordinary tests; the whole runs behind package
// slow:
//
//	go test -tags slow ./internal/siege
//
// The whole campaign of damaged files (TestFlips) comes from one command; NERO_SIEGE_SEED chooses other draws,
// NERO_SIEGE_TIME ends it early, and NERO_SIEGE_ONLY=17 repeats one draw:
//
//	NERO_SIEGE=500 go test ./internal/siege -run TestFlips -v -timeout 0
package siege
