package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

func (a *App) plan() *cobra.Command {
	var sf studyFlags
	var rf runFlags
	audit := false
	c := &cobra.Command{
		Use:   "plan [STUDY.yaml | MODEL.onnx] -o RUN",
		Short: "Write the job of a run, for many machines to work on",
		Long: `plan writes what a run computes into a run folder, and computes nothing of it: nero shard works on its shards,
on this machine and on any that reaches the folder, nero status says how far they are, and nero merge completes the
run. nero run goes on with it as well. The folder that comes out has the same bytes whoever did the work.

RUN may be in a bucket of object storage, s3://BUCKET/PREFIX; see docs/CLUSTERS.md.

--audit plans an audit: the shards are blocks of its sweep, which is most of its work, and nero merge makes the checks
and writes audit.json and audit.txt into the folder, with the bytes of nero audit on one machine.`,
		Example: "  nero plan studies/digits/full.yaml -o run\n" +
			"  nero plan model.onnx --data photos --group C4 --engine wasm -o run --json\n" +
			"  nero plan studies/digits/full.yaml -o s3://runs/digits\n" +
			"  nero plan --audit studies/digits/demo.yaml -o audit",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			var r *app.PlanResult
			if audit {
				r, err = a.planAudit(cmd, s, rf)
			} else {
				r, err = a.app.Plan(cmd.Context(), s, rf.RunOptions)
			}
			if err != nil {
				return err
			}
			if rf.json {
				return r.WriteJSON(a.Out)
			}
			return r.WriteText(a.Out)
		},
	}
	sf.add(c)
	a.addPrograms(c)
	rf.add(c, "nero-run")
	c.Flags().Lookup("json").Usage = `print {"job", "shards", "todo"} as JSON`
	c.Flags().BoolVar(&audit, "audit", false, "plan an audit in place of a run")
	inParts(c)
	return c
}

// planAudit plans the audit of a study.
func (a *App) planAudit(cmd *cobra.Command, s *job.Study, rf runFlags) (*app.PlanResult, error) {
	if rf.KeepGoing {
		return nil, errors.New("--keep-going is for runs, and --audit plans an audit: leave one of them out")
	}
	return a.app.PlanAudit(cmd.Context(), s, rf.Dir, app.AuditOptions{
		Engine: rf.Engine, Workers: rf.Workers, Command: a.audited(),
	})
}

// audited is the command line that makes a planned audit on one machine.
func (a *App) audited() string {
	var args []string
	named := false // a folder may be called plan
	for _, w := range a.args {
		flag, _, _ := strings.Cut(w, "=")
		switch {
		case w == "plan" && !named:
			named, args = true, append(args, "audit")
		case flag == "--audit" || flag == "--json":
		default:
			args = append(args, w)
		}
	}
	return commandOf(args)
}

// grace is how long a shard under way may take to its end by default once the program is asked to stop: what schedulers
// mostly wait before they kill.
const grace = 30 * time.Second

// shardRoom is how much less garbage than this is not collected in a process that works on shards.
const shardRoom = 24 << 20

func (a *App) shard() *cobra.Command {
	o := app.ShardOptions{Getenv: os.LookupEnv}
	lines := false
	c := &cobra.Command{
		Use:   "shard RUN",
		Short: "Work on shards of a planned run",
		Long: `shard evaluates shards of a run that nero plan began, and keeps them in its folder, beside any number of
other processes that do the same. What is kept already is skipped. Which shards: those of --index; those of --block,
which cuts all of them into tasks and takes the one that the scheduler names; or those that lines of the input name,
with --stdin. The task is in the first of these variables that is set: ` + strings.Join(app.TaskVariables(), ", ") + `.

RUN is a folder, or s3://BUCKET/PREFIX; credentials and the storage are named by AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_PROFILE, AWS_REGION and AWS_ENDPOINT_URL, see docs/CLUSTERS.md.

A line of JSON is printed for every shard that is kept. Exit codes: 0 all are kept; 2 it would fail again (study, model,
data, engine); 75 try again (storage, endpoint, signal).`,
		Example: "  nero shard run --index 0-4,7\n" +
			"  SLURM_ARRAY_TASK_ID=3 nero shard run --block 5\n" +
			"  seq 0 99 | nero shard run --stdin",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("block") && o.Block < 1 {
				return fmt.Errorf("--block is %d, want at least 1", o.Block)
			}
			if cmd.Flags().Changed("index") && o.Index == "" {
				return errors.New("--index is empty, want numbers such as 0-4,7")
			}
			if lines {
				o.Stream = cmd.InOrStdin()
			}
			o.Kept = func(k app.KeptShard) { _ = k.WriteJSON(a.Out) } // the sink keeps its error
			// A process of one small shard would spend a tenth of its time on collecting what it gives back at its end.
			// Room that nobody touches takes no memory, and counts for when to collect.
			room := make([]byte, shardRoom)
			defer runtime.KeepAlive(room)
			return a.app.Shard(cmd.Context(), args[0], o)
		},
	}
	c.Flags().StringVar(&o.Index, "index", "", "the `shards`, such as 0-4,7")
	c.Flags().IntVar(&o.Block, "block", 0, "how many `shards` a task takes: task i those from i times as many on")
	c.Flags().BoolVar(&lines, "stdin", false,
		"read one index a line until the input ends: for workers that live longer")
	c.Flags().IntVar(&o.First, "first", 0, "the `number` that the scheduler gives to its first task")
	c.Flags().DurationVar(&o.Grace, "grace", grace,
		"how long a shard under way may take to its end after SIGTERM or Ctrl-C")
	c.Flags().IntVarP(&o.Workers, "workers", "w", workers(),
		"shards at once; their number changes no byte of the result")
	addEngine(c, &o.Engine)
	c.Flags().Lookup("engine").Usage += " (auto: as planned)"
	addLimits(c, &o.Engine, false, "60s for endpoints and any for files")
	a.addPrograms(c)
	return c
}

func (a *App) merge() *cobra.Command {
	var o app.MergeOptions
	json := false
	c := &cobra.Command{
		Use:   "merge RUN",
		Short: "Complete a planned run whose shards are all kept",
		Long: `merge sums up the shards of a run and completes its folder, as nero run does at its end. It computes nothing,
so it runs anywhere; others may work on the folder or merge it at the same time. A run in a bucket, s3://BUCKET/PREFIX, is
fetched into the folder of -o and completed there; --push puts its summary and manifest back.
Of a planned audit it makes the checks, which compute, and writes audit.json and audit.txt; the exit code is that of
nero audit, 1 for FAIL and NEEDS_ATTENTION.

Exit codes: 0 the run is complete; 1 the audit is, and found something; 2 it cannot be; 3 shards are missing, whose indexes are printed as --index and
schedulers take them; 75 try again (storage, signal).`,
		Example: "  nero merge run\n  nero merge run --json | jq .curves\n  nero merge s3://runs/mine -o mine --push",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if app.AuditPlanned(args[0]) {
				if o.To != "" || o.Push {
					return fmt.Errorf("%s is a planned audit, which is completed where it is: leave --out and --push "+
						"out", args[0])
				}
				r, err := a.app.MergeAudit(cmd.Context(), args[0], o.Engine, o.Workers, "text", "json")
				if err != nil {
					return err
				}
				if json {
					return errors.Join(r.Write(a.Out, "json"), outcome(r))
				}
				if err := a.inColor(func() error { return r.WriteBrief(a.Out) }); err != nil {
					return err
				}
				fmt.Fprintf(a.Out, "The whole report: %s and %s\n", filepath.Join(args[0], app.AuditFile("text")),
					filepath.Join(args[0], app.AuditFile("json")))
				return outcome(r)
			}
			r, err := a.app.Merge(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if json {
				_, err := a.Out.Write(r.JSON)
				return err
			}
			if err := r.WriteText(a.Out); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "kept in %s; look at it with: nero serve %s\n", r.Dir, r.Dir)
			return nil
		},
	}
	addEngine(c, &o.Engine)
	c.Flags().IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no byte of the result")
	c.Flags().StringVarP(&o.To, "out", "o", "", "the `folder` into which a run in a bucket is fetched")
	c.Flags().BoolVar(&o.Push, "push", false, "put the summary and the manifest of a run in a bucket back there")
	c.Flags().BoolVar(&json, "json", false, "print the summary as JSON")
	a.addPrograms(c)
	return c
}

// looking is how long nero status waits before it looks again.
const looking = 2 * time.Second

func (a *App) status() *cobra.Command {
	json, watch := false, false
	c := &cobra.Command{
		Use:   "status RUN",
		Short: "Say how far a run is, whoever works on it",
		Long: `status reads from the folder of a run how many shards and samples are kept, how fast they come, how long the
rest takes at that rate, and how many rows have an error. The rate is that of work: gaps between two shards of more than
a minute and ten times the median are pauses, and do not count. It does not matter who works on the run, or where. RUN is a
folder, of a run or of an audit that nero plan began, or s3://BUCKET/PREFIX.`,
		Example: "  nero status run\n  nero status run --watch\n  nero status run --json | jq -r .todo",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.app.Watch(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			before := ""
			for {
				s, err := w.Status(cmd.Context())
				if err != nil {
					return err
				}
				write := s.WriteText
				if json {
					write = s.WriteJSON
				}
				var text strings.Builder
				if err := write(&text); err != nil {
					return err
				}
				if text.String() != before {
					before = text.String()
					fmt.Fprint(a.Out, before)
				}
				if !watch || s.Complete {
					return nil
				}
				select {
				case <-cmd.Context().Done(): // Ctrl-C is how watching ends
					return nil
				case <-time.After(looking):
				}
			}
		},
	}
	c.Flags().BoolVar(&json, "json", false, "print it as JSON")
	c.Flags().BoolVar(&watch, "watch", false, "print a line whenever something changed, until the run is complete")
	return c
}
