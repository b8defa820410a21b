package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"nero/app"
	"nero/present/words"

	"github.com/spf13/cobra"
)

// serveFlags say where to listen, whom to let in, and what may be asked.
type serveFlags struct {
	app.ServeOptions
	open, noOpen bool
	verbose      bool
	token        string
	cache        string
	// served, if not nil, is told the address once it answers
	served func(url string)
}

// tokenVariable holds a token without showing it in the list of processes.
const tokenVariable = "NERO_TOKEN"

func (a *App) serve() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve [DIR...]",
		Short: "Show runs, audits and what other commands found in a browser",
		Long: `serve shows runs and audits in a browser: aggregate curves, samples laid out by the shape of their orbit, single orbits, and
the input as it moves, with the models' answers at any element while you drag. A DIR is the folder of a run, of an audit, or one that
holds such folders, like the one that nero demo writes. Runs that are not finished fill in as they are computed; of a planned audit
(nero plan --audit) it is said how far it is and what has it made, and it is shown as soon as it is. What nero repair,
discover, data, identify, watch, weights, embed and repeat wrote (repair.json, discovery.json, data.json, answers.yaml, watch.json,
weights.json, embedding.json, repeat.json) has pages, too, given by itself or beside a run.
Without a DIR it asks the questions of nero identify in the browser, for which nothing has to be there.

The address is printed first. Without --host only this machine can reach it; with it, visitors need the token in the printed
address. What is shown runs no model but for live answers, which come from the model files of the runs themselves, or from endpoints on
this machine. Nothing is sent anywhere else without --endpoints, and no program is run without --allow-program. See docs/SERVE.md.`,
		Example: "  nero serve nero-demo\n" +
			"  nero serve\n" +
			"  nero serve repaired/repair.json\n" +
			"  nero serve run-of-may run-of-june --port 8080 --no-open\n" +
			"  nero serve copied/run --root /data/models\n" +
			"  nero serve runs --host 0.0.0.0 --cert cert.pem --key key.pem\n" +
			"  nero serve runs --base-path /user/me/proxy/6376/ --allowed-host hub.example.org --no-open",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Guard.PortSet = cmd.Flags().Changed("port")
			return a.serveRuns(cmd.Context(), args, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.Guard.Host, "host", "", "`address` to listen on; default this machine alone")
	fl.IntVar(&f.Guard.Port, "port", app.PresetPort,
		"port to listen on, 0 for any; without it the next free one is taken if this is in use")
	fl.BoolVar(&f.open, "open", false, "open the page in a browser; the default in a terminal with a screen")
	fl.BoolVar(&f.noOpen, "no-open", false, "do not open a browser")
	fl.StringVar(&f.Guard.BasePath, "base-path", "", "`path` at which a proxy shows the page")
	fl.StringSliceVar(&f.Guard.AllowedHosts, "allowed-host", nil,
		"further `name` by which the page is reached, such as that of a proxy; repeatable")
	fl.StringSliceVar(&f.Guard.AllowFrame, "allow-frame", nil,
		"`origin` whose pages may show this one in a frame, such as that of a notebook; repeatable")
	fl.StringVar(&f.token, "token", "",
		"`secret` that visitors need, at least 32 letters or digits, or auto for a new one; also read from "+
			tokenVariable)
	fl.StringVar(&f.Guard.Cert, "cert", "", "certificate `file` in PEM, for https")
	fl.StringVar(&f.Guard.Key, "key", "", "key `file` of the certificate")
	fl.BoolVar(&f.Stored, "no-live", false, "show what is stored and run no model")
	fl.BoolVar(&f.Endpoints, "endpoints", false,
		"let live answers come from other machines, and send them the tokens that runs name, for models behind "+
			"endpoints")
	fl.StringSliceVar(&f.Roots, "root", nil,
		"`folder` in which models and data are looked for that are not where a run says; what is found counts if its "+
			"checksum is right; repeatable")
	fl.BoolVar(&f.Programs, "allow-program", false,
		"let live answers come from programs of this machine that runs name, as you; look at them first")
	fl.StringVar(&f.cache, "cache", strconv.Itoa(app.PresetCache/1_000_000)+"MB",
		"most `size` of the numbers of runs that are kept in memory; more makes large runs answer faster")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "a line for every request")
	fl.StringVar(&f.Web, "web", "",
		"`folder` with the files of the interface, instead of those that are part of the program")
	_ = fl.MarkHidden("web") // it is there
	addEngine(c, &f.Engine)
	f.Engine.MostTime = time.Minute
	addLimits(c, &f.Engine, true, "1m, which also bounds what the study says")
	c.MarkFlagsMutuallyExclusive("open", "no-open")
	c.MarkFlagsRequiredTogether("cert", "key")
	return c
}

// someFolder wants at least one argument.
func someFolder(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s: no folder is given: name that of a run (nero run -o) or an audit, or one that holds "+
			"such folders; see %s --help", c.UseLine(), c.CommandPath())
	}
	return nil
}

// serveRuns shows what is at the paths until it is told to stop.
func (a *App) serveRuns(ctx context.Context, paths []string, f serveFlags) error {
	if os.Getenv("GOGC") == "" {
		// Most of the memory is what is kept of a run, which stays: collecting twice as often costs no time that could
		// be measured and saves a third of the peak. GOGC has the last word.
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	o := f.ServeOptions
	if f.cache != "" { // else the preset
		n, err := app.ParseSize(f.cache)
		if err != nil {
			return fmt.Errorf("--cache: %w", err)
		}
		o.CacheBytes = n
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	o.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
	if f.token == "" {
		f.token = os.Getenv(tokenVariable)
	}
	if f.token == "auto" {
		o.Guard.NeedToken = true
	} else {
		o.Guard.Token = f.token
	}
	o.Workers = workers()
	o.Ready = func(s *app.Serving) {
		a.shown.Load().above(func() { fmt.Fprintln(a.Out, s.URLs[0]) })
		if f.served != nil {
			f.served(s.URLs[0])
		}
		for _, text := range s.LeftOut {
			a.say("note: %s", text)
		}
		for _, text := range s.Waiting {
			a.say("note: %s", text)
		}
		for _, u := range s.URLs[1:] {
			a.say("      %s", u)
		}
		found := words.Plural(s.Runs, "run", "runs")
		if s.Sheets > 0 {
			found += ", " + words.Plural(s.Sheets, "other report", "other reports")
		}
		if len(paths) == 0 {
			a.say("no folder is given: the page asks which symmetries a problem should have, as nero identify does; " +
				"to show runs and audits, name their folder: nero serve FOLDER. Ctrl-C ends")
		} else {
			a.say("%s and %s; Ctrl-C ends", found, words.Plural(s.Audits, "audit", "audits"))
		}
		if f.open || !f.noOpen && screen(a.Out) {
			if err := browse(ctx, s.URLs[0]); err != nil {
				a.say("note: no browser was opened (%v); open the address above", err)
			}
		}
	}
	return a.app.Serve(ctx, paths, o)
}

// screen tells whether somebody sits at this machine in front of a screen.
func screen(out any) bool {
	if !terminal(out) || os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// browse opens an address in the user's browser, which outlives the program.
func browse(ctx context.Context, url string) error {
	ctx = context.WithoutCancel(ctx)
	var c *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		c = exec.CommandContext(ctx, "open", url)
	case "windows":
		c = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		c = exec.CommandContext(ctx, "xdg-open", url)
	}
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // it may live as long as the browser
	return nil
}
