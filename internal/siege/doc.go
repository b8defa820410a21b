// Package siege holds campaigns against the program: what is killed, damaged, hostile or without room, in seeded draws,
// each with a budget of time for one case. A short draw of each is part of the ordinary tests, or of those behind
// package slow:
//
//	go test -tags slow ./internal/siege
//
// The whole of a campaign comes from one command, of a number of draws, or of as many as fit into NERO_SIEGE_TIME;
// NERO_SIEGE_SEED chooses other draws, and NERO_SIEGE_ONLY=17 repeats one. docs/RELIABILITY.md says what they showed:
//
//	NERO_SIEGE=500 go test ./internal/siege -run TestFlips -v -timeout 0
//	NERO_SIEGE=200 go test ./internal/siege -run TestKills -v -timeout 0
//	NERO_SIEGE=200 go test ./internal/siege -run TestHostileData -v -timeout 0
//	NERO_SIEGE=100 go test ./internal/siege -run TestHostileStudies -v -timeout 0
//	NERO_SIEGE=100 go test ./internal/siege -run 'TestFullDisks|TestFullOutput' -v -timeout 0
//	go test -tags slow ./internal/siege -run TestHostileModels -v -timeout 0
//	NERO_SIEGE=1 go test ./internal/siege -run TestCalls -v -timeout 0
//	NERO_SIEGE=20000 go test -race ./internal/siege -run TestAPI -v -timeout 0
//	NERO_SIEGE=1 go test ./internal/siege -run TestSlowClients -v -timeout 0
package siege
