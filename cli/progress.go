package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"nero/app"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a run is: a bar on a terminal, a line every few seconds elsewhere. It is safe for concurrent
// use.
type progress struct {
	out io.Writer
	// the work, and what the display calls it
	task, label string
	// of what is counted
	unit  string
	now   func() time.Time
	tty   bool
	every time.Duration

	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	begin time.Time
	last  time.Time
	done  int
	total int
	// steps that were done before the clock began
	early int
	// steps that the bar has not been told yet
	held int
}

// settling is how long a bar waits before it shows how fast the work is: the first steps alone give millions a second.
const settling = time.Second

// shown is the display of what goes on, nil for none.
type shown struct{ atomic.Pointer[progress] }

// event draws what happens.
func (a *App) event(e app.Event) {
	if e.Kind == app.Started {
		label := "nero " + e.Task
		if e.Model != "" {
			label += " " + e.Model
		}
		a.shown.Store(newProgress(a.Err, printable(label), e.Unit, a.quiet))
		return
	}
	p := a.shown.Load()
	switch e.Kind {
	case app.Note:
		a.say("note: %s", e.Text)
	case app.Opened:
		a.say("engine: %s", e.Text)
		if e.Hint != "" {
			a.say("        %s", e.Hint)
		}
	case app.Resumed:
		p.note("%s: resuming, %d of %d shards are there", p.label, e.Done, e.Total)
	case app.Sized:
		p.size(e.Total)
	case app.Stepped:
		p.step(e.Done, e.Held)
	case app.Staged:
		between := ", "
		if e.Task == app.TaskReport {
			between = ": "
		}
		p.stage(between + e.Text)
	case app.Ended:
		p.finish()
	case app.Started, app.Judged, app.Refused: // the last is printed when the program ends
	}
}

// newProgress writes to out; quiet shows nothing.
func newProgress(out io.Writer, label, unit string, quiet bool) *progress {
	p := &progress{out: out, task: label, label: label, unit: unit, now: time.Now, every: 5 * time.Second}
	if f, ok := out.(*os.File); ok {
		p.tty = term.IsTerminal(int(f.Fd()))
	}
	if quiet {
		p.out, p.tty = io.Discard, false
	}
	return p
}

// size starts the clock for n steps.
func (p *progress) size(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done, p.early, p.held, p.begin = n, 0, 0, 0, p.now()
	p.last = p.begin
	if p.tty && n > 0 {
		p.bar = progressbar.NewOptions(n, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(p.label),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
}

// step counts n steps, which were done before the clock began if they are told late.
func (p *progress) step(n int, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if late {
		p.early += n
	}
	if p.bar != nil {
		if p.held += n; p.now().Sub(p.begin) >= settling {
			_ = p.bar.Add(p.held) // a bar that cannot be drawn is no reason to stop
			p.held = 0
		}
		return
	}
	now := p.now()
	if p.begin.IsZero() { // nobody said how many there will be
		p.begin, p.last = now, now
	}
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	spent, timed := now.Sub(p.begin), p.done-p.early
	if p.total == 0 {
		fmt.Fprintf(p.out, "%s: %d %s so far, %.0f/s\n", p.label, p.done, p.unit, float64(timed)/spent.Seconds())
		return
	}
	total := max(p.total, p.done) // some steps are decided on the way
	left := time.Duration(float64(spent) * float64(total-p.done) / float64(max(timed, 1)))
	fmt.Fprintf(p.out, "%s: %d of %d %s (%.0f %%), %.0f/s, %s left\n", p.label, p.done, total, p.unit,
		100*float64(p.done)/float64(total), float64(timed)/spent.Seconds(), left.Round(time.Second))
}

// stage says in the display what is done now.
func (p *progress) stage(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label = p.task + printable(text)
	if p.bar != nil {
		p.bar.Describe(p.label)
	}
}

// finish ends the display and says how long it took.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
	if p.early > 0 { // how long all of it took is not known
		fmt.Fprintf(p.out, "%s: %d %s\n", p.label, p.done, p.unit)
		return
	}
	if spent := p.now().Sub(p.begin); p.done > 0 && spent > 0 && !p.begin.IsZero() {
		fmt.Fprintf(p.out, "%s: %d %s in %s (%.0f/s)\n", p.label, p.done, p.unit, spent.Round(100*time.Millisecond),
			float64(p.done)/spent.Seconds())
	}
}

// note prints a line above the bar.
func (p *progress) note(format string, a ...any) {
	p.above(func() { fmt.Fprintln(p.out, printable(fmt.Sprintf(format, a...))) })
}

// above prints lines above the bar, which goes on below them. p may be nil, where nothing is shown.
func (p *progress) above(lines func()) {
	if p == nil {
		lines()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear() // a bar that cannot be drawn is no reason to stop
	}
	lines()
}
