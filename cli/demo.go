package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"nero/app"
	"nero/present/words"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// demoList has a paragraph for each demo: its name, how long it takes, what it shows.
func demoList() string {
	b := &strings.Builder{}
	for _, d := range app.Demos() {
		b.WriteString(words.Wrap(fmt.Sprintf("  %-10s about %d s: %s", d.Name, d.Seconds, d.Shows), 110, 12))
	}
	return b.String()
}

func (a *App) demo() *cobra.Command {
	var rf runFlags
	var sv serveFlags
	limit, once := 0, false
	c := &cobra.Command{
		Use:   "demo [digits | cells | flow | clouds | molecules]",
		Short: "Built-in studies: turned digits, shifted blood cells, mirrored flows, furniture and molecules in space",
		Long: `demo evaluates a few small networks, built into the program, along an orbit of real or rendered data:

` + demoList() + `
The seconds are those of two processors with ONNX Runtime's library, to the end of the audits; the embedded engine takes three to four
times as long. Without a word it is the first one.

Where none of them keeps the symmetry, one that does by construction is audited as well, unless --limit leaves too little for a PASS.
That of digits ends with a repair: of the network that knows upright digits alone, for quarter turns.

It writes the study, the run, an audit and a report into a folder, and shows them in a browser from the first samples on, until
Ctrl-C. Everything that it does can be done with one's own model by 'nero run', 'nero audit', 'nero report' and 'nero serve'.

With --once, or where nobody sits at a terminal, it ends when everything is written.`,
		Example: "  nero demo\n  nero demo cells -o my-cells\n  nero demo flow --once\n  nero demo -o my-demo " +
			"--limit 200",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: app.DemoNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := app.DemoOptions{
				Engine: rf.Engine, Workers: rf.Workers, KeepGoing: rf.KeepGoing, Limit: limit,
				CPU: app.ProcessorTime,
			}
			if len(args) > 0 {
				o.Name = args[0]
				if !slices.Contains(app.DemoNames(), o.Name) {
					return fmt.Errorf("no demo %q: there are %s", o.Name, strings.Join(app.DemoNames(), ", "))
				}
				if o.Name != app.DemoNames()[0] && !cmd.Flags().Changed("out") {
					rf.Dir = "nero-" + o.Name
				}
			}
			o.Dir = rf.Dir
			a.said = new(sync.Map) // run and audit read the same study
			sv.Engine, sv.Guard.PortSet = rf.Engine, cmd.Flags().Changed("port")
			var page *demoPage
			if !once && (sv.open || terminal(a.Out)) {
				page = a.demoPage(cmd.Context(), o.Dir, sv)
				defer page.stop()
			}
			o.Kept = page.show
			o.First = func(r *app.RunResult, of int, samples string) {
				fmt.Fprintf(a.Out, "\nFirst look, %d of %d %s:\n", r.Summary.Samples, of, samples)
				_ = r.WriteText(a.Out) // the sink keeps its error
				fmt.Fprintln(a.Out)
			}
			o.Ran = func(r *app.RunResult) {
				_ = r.WriteText(a.Out) // the sink keeps its error
				fmt.Fprintln(a.Out)
			}
			o.Audited = func(r *app.AuditResult) {
				_ = a.inColor(func() error { return r.WriteBrief(a.Out) }) // the sink keeps its error
			}
			d, err := a.app.Demo(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s\nreport: %s (%d files)\naudit:  %s\nrun:    %s\nstudy:  %s, to change and run with"+
				"\n        nero run %s -o %s\n", words.Wrap(d.Moral, 80, 0), d.Report, d.Files, d.Audit, d.Run, d.Study,
				d.Study, filepath.Join(o.Dir, "mine"))
			if d.Exact != "" {
				fmt.Fprintf(a.Out, "exact:  %s\n        the audit of a model that keeps the symmetry by construction\n",
					d.Exact)
			}
			if d.Bill != "" {
				fmt.Fprintf(a.Out, "repair: %s\n%s", d.Repaired, words.Wrap("        "+d.Bill, 80, 8))
			}
			for _, q := range d.More {
				fmt.Fprintf(a.Out, "%s%s", words.Wrap("more:   "+q.Asks+"?", 80, 8), command(q.Args))
			}
			if page == nil {
				fmt.Fprintf(a.Out, "look:   nero serve %s\n", o.Dir)
				return nil
			}
			if at := page.at.Load(); at != nil {
				fmt.Fprintf(a.Out, "page:   until Ctrl-C; 'nero serve %s' shows it again\n%s\n", o.Dir, *at)
			}
			return page.wait()
		},
	}
	rf.add(c, "nero-demo")
	c.Flags().BoolVar(&once, "once", false, "end when everything is written, without showing it")
	c.Flags().BoolVar(&sv.open, "open", false, "show it in a browser even if nobody sits at a terminal")
	c.Flags().BoolVar(&sv.noOpen, "no-open", false, "print the address and open no browser")
	c.Flags().IntVar(&sv.Guard.Port, "port", app.PresetPort,
		"port of the page, 0 for any; without it the next free one is taken if this is in use")
	c.MarkFlagsMutuallyExclusive("once", "open")
	c.Flags().IntVar(&limit, "limit", 0,
		"fewer samples, of digits the same number of each class (0: as many as the study says)")
	return c
}

// command is a command to type, on several lines where it is wider than a terminal.
func command(args []string) string {
	const indent, wide = "        ", 80
	out, at := &strings.Builder{}, len(indent)+len("nero")
	out.WriteString(indent + "nero")
	for _, w := range args {
		if at+1+len(w)+len(" \\") > wide {
			out.WriteString(" \\\n" + indent + " ")
			at = len(indent) + 1
		}
		out.WriteString(" " + w)
		at += 1 + len(w)
	}
	return out.String() + "\n"
}

// demoPage is the interface over what the demo writes while it writes it.
type demoPage struct {
	serve func() error
	end   context.CancelFunc
	once  sync.Once
	done  chan error
	// where it is shown, once it is
	at atomic.Pointer[string]
}

// demoPage gets the interface over a folder ready.
func (a *App) demoPage(ctx context.Context, dir string, f serveFlags) *demoPage {
	ctx, end := context.WithCancel(ctx)
	p := &demoPage{end: end, done: make(chan error, 1)}
	f.served = func(url string) { p.at.Store(&url) }
	p.serve = func() error {
		err := a.serveRuns(ctx, []string{dir}, f)
		if err != nil && ctx.Err() == nil {
			a.say("note: the page cannot be shown: %v", err) // at once; what is computed goes on
		}
		return err
	}
	return p
}

// show starts it when there is something to see, which is when the first rows are stored. A nil page shows nothing.
func (p *demoPage) show() {
	if p != nil {
		p.once.Do(func() { go func() { p.done <- p.serve() }() })
	}
}

// wait shows it until the user ends the program.
func (p *demoPage) wait() error { return <-p.done }

// stop ends it.
func (p *demoPage) stop() { p.end() }

// terminal tells whether somebody sits at the other end of the output.
func terminal(out any) bool { return screenOf(out) != nil }

// screenOf is the terminal behind the output, nil if there is none.
func screenOf(out any) *os.File {
	if s, ok := out.(*sink); ok {
		out = s.w
	}
	if c, ok := out.(cleaned); ok {
		out = c.w
	}
	if p, ok := out.(*painter); ok {
		out = p.w
	}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return file
}

// columnsOf is how many columns the terminal has, 0 where there is none or it does not say.
func columnsOf(out any) int {
	file := screenOf(out)
	if file == nil {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}
