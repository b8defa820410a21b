package app

import (
	"slices"
	"testing"
	"time"
)

// Steps that come close together are told as one, and all of them before what comes after.
func TestStepsAreToldTogether(t *testing.T) {
	now := time.Unix(100, 0)
	var told []Event
	m := &teller{to: func(e Event) { told = append(told, e) }, now: func() time.Time { return now }}
	for _, e := range []Event{
		{Kind: Started, Task: TaskRun},
		{Kind: Sized, Total: 10},
		{Kind: Stepped, Done: 1},
		{Kind: Stepped, Done: 2},
		{Kind: Stepped, Done: 1},
	} {
		m.tell(e)
	}
	now = now.Add(apart)
	m.tell(Event{Kind: Stepped, Done: 3})
	m.tell(Event{Kind: Stepped, Done: 1, Held: true}) // another clock
	m.tell(Event{Kind: Stepped, Done: 2})
	m.tell(Event{Kind: Ended})
	want := []Event{
		{Kind: Started, Task: TaskRun},
		{Kind: Sized, Total: 10},
		{Kind: Stepped, Done: 1},
		{Kind: Stepped, Done: 6},
		{Kind: Stepped, Done: 1, Held: true},
		{Kind: Stepped, Done: 2},
		{Kind: Ended},
	}
	if !slices.Equal(told, want) {
		t.Errorf("%+v\nwant %+v", told, want)
	}
}
