package child

import (
	"errors"
	"io"
	"strings"
	"testing"

	"nero/model/engine/frame"
)

// A program that says in its first frame why it refuses, and ends at once, is quoted, however late this side looks.
func TestRefusalBeforeTheEnd(t *testing.T) {
	for range 50 { // what is ready at once is taken by chance
		calls, greeted := frame.NewCalls[frame.Frame]()
		calls.Deliver(0, frame.Frame{JSON: []byte(`{"error":"no weights"}`)})
		calls.End(errors.New("it ended"))
		p := &Program{w: &frame.Writer{W: io.Discard}, calls: calls, said: &tail{}}
		if err := p.greet(t.Context(), Config{}, greeted); err == nil || !strings.Contains(err.Error(), "no weights") {
			t.Fatalf("%v, want that it has no weights", err)
		}
	}
}
