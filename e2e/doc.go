// Package e2e holds the tests that use the whole program as a person does: the built binary, a real run of it, and a browser in which
// every view is worked by mouse and by keyboard.
//
// The tests need Chromium. They are skipped, with a word, where there is none, and fail where the environment variable CI says that there has to be
// one. NERO_SCREENSHOTS names a folder in which every view is kept as a picture, for eyes: nothing compares them.
package e2e
