package app

import "fmt"

// EventKind says what an [Event] is.
type EventKind int

// Kinds of events. Work begins with Started and ends with Ended, whatever became of it.
const (
	// Note is a sentence for people, in Text.
	Note EventKind = iota
	// Opened is an engine that was chosen: Text says which and why, Hint how to get a faster one.
	Opened
	// Started is the beginning of work that takes a while: of Task, and of Model where it is of one, counted in Unit.
	Started
	// Resumed is work of which Done of Total shards were there already.
	Resumed
	// Sized says that the work has Total steps, none of them done. It comes before the first Stepped.
	Sized
	// Stepped are Done further steps.
	Stepped
	// Staged says what is done now, in Text: in an audit the check that is asked.
	Staged
	// Judged is the outcome of an audit's check: its name is in Check, its status in Text.
	Judged
	// Ended is the end of the work.
	Ended
	// Refused says in Text why the program ends without a result, and in Field which field of the study is to blame,
	// where it is one.
	Refused
)

// String is the name of a kind, as other programs read it.
func (k EventKind) String() string {
	return []string{
		"note", "engine", "started", "resumed", "sized", "stepped", "staged", "judged", "ended", "refused",
	}[k]
}

// MarshalText is the name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Tasks of events.
const (
	TaskRun      = "run"
	TaskShard    = "shard"
	TaskAudit    = "audit"
	TaskDiscover = "discover"
	TaskReport   = "report"
	TaskHash     = "files"
	TaskData     = "data"
	TaskWatch    = "watch"
	TaskWeights  = "weights"
	TaskRepeat   = "repeat"
	TaskEmbed    = "embed"
)

// Event is something that happens while the program works: what a terminal draws, a page streams, another process
// reads. Results come from functions and never from events.
type Event struct {
	Kind EventKind `json:"event"`
	// Task is the work: TaskRun, TaskShard, TaskAudit, TaskDiscover, TaskReport, TaskHash, TaskData, TaskWatch,
	// TaskWeights, TaskRepeat or TaskEmbed; empty for notes and engines.
	Task string `json:"task,omitempty"`
	// Model is the one that is audited, else empty.
	Model string `json:"model,omitempty"`
	// Field is a field of the study, such as group.name.
	Field string `json:"field,omitempty"`
	// Check is the name of a check that was judged.
	Check string `json:"check,omitempty"`
	Text  string `json:"text,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Unit is what steps are counted in, such as predictions.
	Unit  string `json:"unit,omitempty"`
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	// Held says that the event happened before it was told: the clock says nothing of how long it took.
	Held bool `json:"held,omitempty"`
}

func (a *App) tell(e Event) {
	if a.Events != nil {
		a.Events(e)
	}
}

// note tells sentences for people.
func (a *App) note(texts ...string) {
	for _, t := range texts {
		a.tell(Event{Kind: Note, Text: t})
	}
}

// notef tells one sentence for people.
func (a *App) notef(format string, args ...any) { a.note(fmt.Sprintf(format, args...)) }

// work is some work that takes a while, which tells how far it is.
type work struct {
	to   func(Event)
	like Event
}

// begin tells that work of no model begins.
func (a *App) begin(task, unit string) *work { return begin(a.tell, task, "", unit) }

// begin tells somebody that work begins.
func begin(to func(Event), task, model, unit string) *work {
	w := &work{to, Event{Task: task, Model: model, Unit: unit}}
	w.tell(Event{Kind: Started})
	return w
}

func (w *work) tell(e Event) {
	e.Task, e.Model, e.Unit = w.like.Task, w.like.Model, w.like.Unit
	w.to(e)
}

func (w *work) size(total int)    { w.tell(Event{Kind: Sized, Total: total}) }
func (w *work) step(n int)        { w.tell(Event{Kind: Stepped, Done: n}) }
func (w *work) stage(text string) { w.tell(Event{Kind: Staged, Text: text}) }
func (w *work) end()              { w.tell(Event{Kind: Ended}) }
