// Package e2e holds the tests that use the whole program as a person does: the built binary, real runs of it, and a
// browser in which every view is worked by mouse and by keyboard. A page exception, a console error, a report of the
// content policy, a request to another host and a finding of axe-core fail a test.
//
// The tests run where NERO_BROWSER names a Chromium, such as NERO_BROWSER=chromium; chromium-headless-shell, which
// draws pages alone and no windows around them, takes half the time. axe-core from npm ci in serve/web takes part where
// NERO_WEB_MODULES is 1. More variables:
//
//	NERO_SCREENSHOTS  a folder in which every view is kept as a picture, for eyes: nothing compares them
//	NERO_E2E_BUILD    flags for go build, to try an interface that is not committed yet:
//
//	cd serve/web && go run ./bundle -out /tmp/dist -overlay /tmp/overlay.json
//	NERO_E2E_BUILD="-overlay /tmp/overlay.json" NERO_BROWSER=chromium go test ./e2e
package e2e
