package parent

import (
	"errors"
	"strings"
	"testing"

	"nero/model/engine/frame"
)

// nowhere is a connection on which nothing comes.
type nowhere struct{}

func (nowhere) Read([]byte) (int, error)    { select {} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

// A hello that came before the other side ended is read, however late this side looks.
func TestHelloBeforeTheEnd(t *testing.T) {
	for range 50 { // what is ready at once is taken by chance
		calls, first := frame.NewCalls[frame.Frame]()
		calls.Deliver(0, frame.Frame{JSON: []byte(`{"hello":{"protocol":2}}`)})
		calls.End(errors.New("gone"))
		p := &Channel{c: nowhere{}, w: &frame.Writer{W: nowhere{}}, calls: calls}
		if err := p.greet(t.Context(), first, "1"); err == nil || !strings.Contains(err.Error(), "protocol 2") {
			t.Fatalf("%v, want that it speaks protocol 2", err)
		}
	}
}
