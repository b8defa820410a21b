// Package cli is the command line: commands, flags, exit codes, progress. It has no logic of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"nero/app"
	"nero/present/words"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK       = 0
	exitFindings = 1 // the audit found something, or could not decide
	exitError    = 2 // it could not run
	exitMissing  = 3 // the run cannot be merged: shards are missing
	// the same command may succeed later or elsewhere: a full disk, an endpoint that is away, a signal; what sysexits.h
	// calls EX_TEMPFAIL.
	exitAgain = 75
)

// App is the program with everything that it takes from outside.
type App struct {
	// Out takes results and Err what is said beside them. Commands do not look at what writing to Out returns: its
	// first error is kept and ends the program with exit code 2.
	Out, Err io.Writer
	Version  string
	// Stop is closed when the user asks a run to stop; work under way is finished and kept.
	Stop <-chan struct{}
	// Process starts this program again, to run an engine; see [app.App].
	Process func() *exec.Cmd

	// Handed is what the program that started this one handed down, as the variable [app.Handed] says it; empty for
	// nothing.
	Handed string

	// of the command line that runs
	args  []string
	quiet bool
	// when verdicts are coloured, and what colours them
	color string
	paint *painter
	// notes that were said, where each is said once; nil where there is no end of them
	said *sync.Map
	// what everything is done by
	app app.App
	// how far the work is that goes on
	shown shown
}

// sink remembers the first error of a writer, after which it writes nothing. It is safe for concurrent use.
type sink struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// Write passes b on.
func (s *sink) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		n, s.err = s.w.Write(b)
	}
	return n, s.err
}

// errFindings ends the program with exit code 1 without a further message.
var errFindings = errors.New("findings")

// Main runs the program on the process's own arguments and streams and returns its exit code.
func Main() int {
	if app.EngineAsked() {
		return app.RunEngine()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	a := &App{
		Out: os.Stdout, Err: os.Stderr, Version: version(), Stop: stop, Process: app.Itself,
		Handed: os.Getenv(app.Handed),
	}
	_ = os.Unsetenv(app.Handed) // it is for this process alone
	go func() {
		<-signals
		if a.app.Running() {
			fmt.Fprintln(os.Stderr,
				"\nnero: finishing what is under way; the run can be resumed. Once more to stop at once.")
			close(stop)
			<-signals
		}
		signal.Stop(signals) // the next one ends the process as it is
		cancel()
	}()
	return a.Run(ctx, os.Args[1:])
}

// Run executes one command line and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	given := a.Out
	a.paint = &painter{w: given}
	out := &sink{w: onScreen(given, a.paint)}
	a.Out = out
	defer func() { a.Out = given }()
	a.args = args
	a.app.Version, a.app.Now, a.app.Jitter = a.Version, time.Now, rand.Float64
	a.app.Stop, a.app.Events = a.Stop, a.event
	a.app.Process = a.Process
	if a.Handed != "" {
		joined, leave, err := a.app.Join(ctx, a.Handed)
		if err != nil {
			fmt.Fprintln(a.Err, printable(fmt.Sprintf("nero: %v", err)))
			return exitError
		}
		defer leave()
		ctx = joined
	}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case out.err != nil && (err == nil || errors.Is(err, errFindings)):
		err = fmt.Errorf("the result could not be printed: %w", out.err)
	case err == nil:
		return exitOK
	case ctx.Err() != nil && strings.Contains(err.Error(), context.Canceled.Error()):
		// It is not asked whether err wraps it: what is wrong with a study is kept as text.
		if again, ok := errors.AsType[*app.AgainError](err); ok {
			err = again.Reworded("stopped")
		} else {
			err = errors.New("stopped")
		}
	}
	if errors.Is(err, errFindings) {
		return exitFindings
	}
	err = commandError(root, args, err)
	a.app.Refuse(err)
	fmt.Fprintln(a.Err, printable(shortened(fmt.Sprintf("nero: %v", err))))
	return code(err)
}

// code is the exit code of an error.
func code(err error) int {
	if _, ok := errors.AsType[*app.MissingError](err); ok {
		return exitMissing
	}
	if _, ok := errors.AsType[*app.AgainError](err); ok {
		return exitAgain
	}
	return exitError
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "nero",
		Short: "How does a model respond when its input moves along an orbit of a group?",
		Long: `nero moves the inputs of a machine-learning model along the orbit of a group (turned, shifted, mirrored) and
says with evidence whether the model is equivariant, where it is not, and whether the error is real, rounding or
resampling.`,
		Example: "  nero demo\n  nero run --model model.onnx --data photos --group 'SO(2)' -o run\n  nero " +
			"audit model.onnx --data photos --group C4 --invariant",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       a.Version,
	}
	root.PersistentPreRunE = onDisk
	root.DisableSuggestions = true // cobra's take four lines
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress")
	root.PersistentFlags().Var(&choice{&a.color, []string{colorAuto, colorAlways, colorNever}}, "color",
		"verdicts in colour: auto is on a terminal, unless NO_COLOR is set")
	root.AddCommand(a.demo(), a.run(), worksInBucket(a.plan(), byOut), worksInBucket(a.shard(), byArgument),
		worksInBucket(a.merge(), byArgument), worksInBucket(a.status(), byArgument), a.submit(), a.audit(), a.repair(),
		a.identify(), a.data(), a.discover(), a.embed(), a.weights(), a.watch(), a.repeat(),
		a.read(a.compare()), a.report(), a.serve(), a.export(), a.read(a.inspect()), a.read(a.engine()),
		a.read(a.groups()), a.read(a.metrics()), a.read(a.presets()), a.read(a.checks()), a.bench(), a.schema())
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		var text strings.Builder
		out := c.OutOrStdout()
		c.SetOut(&text)
		help(c, args)
		c.SetOut(out)
		said := strings.ReplaceAll(text.String(), " (default )", "") // of a flag without a default
		_ = toRead(out, func(w io.Writer) error {                    // the sink keeps its error
			_, err := io.WriteString(w, said)
			return err
		})
	})
	return root
}

// flagError says which flag was probably meant.
func flagError(c *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want := expected(wrong.GetFlag().Value.Type()); want != "" {
			return fmt.Errorf("--%s is %q, want %s; see %s --help", wrong.GetFlag().Name, wrong.GetValue(), want,
				c.CommandPath())
		}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name := unknown.GetSpecifiedName(); len(name) > 1 {
		if near, ok := words.Suggest(name, names); ok {
			return fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
}

// expected is what a flag of one of pflag's types takes, in words; "" for types that say so themselves.
func expected(kind string) string {
	return map[string]string{
		"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number", "bool": "true or false",
		"float64Slice": "numbers with commas between them, such as 0.5,0.5,0.5",
		"intSlice":     "whole numbers with commas between them, such as 32,32",
		"duration":     "a time, such as 30s or 5m",
	}[kind]
}

// commandError says which command was probably meant, if args begin with one that does not exist.
func commandError(root *cobra.Command, args []string, err error) error {
	at, rest, _ := root.Find(args)
	if at == nil || len(rest) == 0 {
		at, rest = root, args
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "accepts ") && strings.Contains(text, " arg(s), received "):
		if at, _, _ = root.Find(args); at != nil {
			return fmt.Errorf("%s: %w; see %s --help", at.UseLine(), err, at.CommandPath())
		}
		return err
	case !strings.HasPrefix(text, "unknown command"):
		return err
	}
	var names []string
	for _, c := range at.Commands() {
		names = append(names, c.Name())
	}
	for _, word := range rest {
		if near, ok := words.Suggest(word, names); ok && !strings.HasPrefix(word, "-") {
			return fmt.Errorf("%w; did you mean %q?", err, near)
		}
	}
	return fmt.Errorf("%w; see %s --help", err, at.CommandPath())
}

// workers is the default number of workers: every processor that the program may use.
func workers() int { return runtime.GOMAXPROCS(0) }

// say writes a line for a person, not for a machine.
func (a *App) say(format string, args ...any) {
	if a.quiet {
		return
	}
	line := printable(shortened(fmt.Sprintf(format, args...)))
	if a.said != nil {
		if _, before := a.said.LoadOrStore(line, true); before {
			return
		}
	}
	fmt.Fprintln(a.Err, line)
}

// addEngine adds the flags that choose the body that runs the models.
func addEngine(c *cobra.Command, e *app.Engine) {
	kinds := app.EngineKinds()
	e.Kind = kinds[0]
	c.Flags().Var(&choice{&e.Kind, kinds}, "engine", "what runs the models")
	c.Flags().StringVar(&e.Library, "ort-lib", "", "ONNX Runtime's shared `library`, instead of looking for one")
	c.Flags().StringArrayVar(&e.Providers, "provider", nil,
		"where a native library runs models, `NAME[:OPTION=VALUE,...]`: "+strings.Join(app.Providers(), ", ")+
			"; +cpu behind it lets the processor take nodes that it does not (default: what the study says, else cpu)")
	ofEngine.holds(c.Flags(), "engine", "ort-lib", "provider")
}

// addLimits adds the flags that bound what a model may do. isolated is whether the engine always runs in a process of
// its own; otherwise says how long an answer may take where nobody says.
func addLimits(c *cobra.Command, e *app.Engine, isolated bool, otherwise string) {
	names := []string{"time-limit", "engine-memory"}
	c.Flags().Var((*patience)(&e.TimeLimit), "time-limit",
		"most `time` that a model may take for one answer, of a batch, such as 30s; 0 for any "+
			"(default: its timeout in the study, else "+otherwise+")")
	c.Flags().Var((*size)(&e.Memory), "engine-memory",
		"most `memory` of an engine in a process of its own, such as 4GB (default: three quarters of the machine's)")
	if !isolated {
		c.Flags().BoolVar(&e.Isolate, "isolate", false,
			"run a native engine in a process of its own, so that a model that crashes it ends with an error")
		names = append(names, "isolate")
	}
	ofEngine.holds(c.Flags(), names...)
}

// patience is a flag with a time, of which 0, if it is said, stands for any.
type patience time.Duration

// String is empty for the preset.
func (p *patience) String() string {
	switch {
	case *p == 0:
		return ""
	case *p < 0:
		return "0s"
	}
	return time.Duration(*p).String()
}

// Set reads a time such as 30s.
func (p *patience) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time, such as 500ms, 30s or 2m; 0 for any")
	}
	if *p = patience(d); d == 0 {
		*p = -1
	}
	return nil
}

// Type is what the flag takes, for its help.
func (p *patience) Type() string { return "time" }

// size is a flag with a number of bytes.
type size int64

// String is empty for the preset.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// leastBare is the least number of bytes that is taken without a unit: who writes less has left one out.
const leastBare = 1 << 20

// Set reads a size such as 4GB.
func (s *size) Set(text string) error {
	n, err := app.ParseSize(text)
	if _, bare := strconv.ParseUint(text, 10, 64); err == nil && bare == nil && n > 0 && n < leastBare {
		return fmt.Errorf("%s without a unit is %s bytes; write %sMB or %sGB", text, text, text, text)
	}
	*s = size(n)
	return err
}

// Type is what the flag takes, for its help.
func (s *size) Type() string { return "size" }

// addAllow adds the flag that says what is no regression.
func addAllow(c *cobra.Command, allow *float64) {
	c.Flags().Float64Var(allow, "allow-regression", app.PresetAllow,
		"relative increase of an error that is no regression yet: 0.1 is ten percent")
}

// addPrograms adds the flag that lets programs of studies run.
func (a *App) addPrograms(c *cobra.Command) {
	c.Flags().BoolVar(&a.app.Programs, "allow-program", false,
		"run the programs that the study names, as its group or as a model; look at them first")
	ofGroup.holds(c.Flags(), "allow-program")
}
