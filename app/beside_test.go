package app

import (
	"slices"
	"testing"
)

// Works that go on side by side are told as one after the other: the first as it happens, the others when it is their
// turn, with one sum for steps that follow each other.
func TestTurns(t *testing.T) {
	var told []Event
	turns := &turns{
		tell: func(e Event) { told = append(told, e) }, held: make([][]Event, 3), over: make([]bool, 3),
	}
	say := func(i int, kind EventKind, n int) {
		turns.take(i, Event{Kind: kind, Model: string(rune('a' + i)), Done: n})
	}
	expect := func(what string, want ...Event) {
		t.Helper()
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %+v, want %+v", what, told, want)
		}
		told = nil
	}
	say(1, Started, 0)
	say(0, Started, 0)
	say(1, Stepped, 2)
	say(1, Stepped, 3)
	say(0, Stepped, 1)
	expect("the first alone", Event{Kind: Started, Model: "a"}, Event{Kind: Stepped, Model: "a", Done: 1})
	say(2, Started, 0)
	say(2, Ended, 0)
	turns.end(2)
	expect("nothing before its turn")
	turns.end(0)
	expect("what was held", Event{Kind: Started, Model: "b", Held: true},
		Event{Kind: Stepped, Model: "b", Done: 5, Held: true})
	say(1, Stepped, 4)
	say(1, Ended, 0)
	turns.end(1)
	expect("the rest", Event{Kind: Stepped, Model: "b", Done: 4}, Event{Kind: Ended, Model: "b"},
		Event{Kind: Started, Model: "c", Held: true}, Event{Kind: Ended, Model: "c", Held: true})
}
