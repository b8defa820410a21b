package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) submit() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit slurm|kubernetes|local|dask|ray RUN",
		Short: "Hand the shards of a planned run to a scheduler",
		Long: `submit cuts the shards of a run that nero plan began into tasks of a scheduler. What is kept already is not
computed again, so the same command goes on with what is missing. See docs/CLUSTERS.md.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Example: "  nero submit slurm run --time 1h -- --partition=short\n" +
			"  nero submit kubernetes run --image IMAGE --claim CLAIM | kubectl apply -f -",
	}
	c.AddCommand(worksInBucket(a.submitSlurm(), byArgument), worksInBucket(a.submitKubernetes(), byArgument))
	c.AddCommand(inPython("local RUN", "Processes of this machine"), inPython("dask ADDRESS RUN", "Workers of Dask"),
		inPython("ray ADDRESS RUN", "Workers of Ray"))
	return c
}

// inPython is an engine that the Python package hands shards to, since it is spoken to in Python. It stands in the help
// of this program, where one looks for it, and says what to type.
func inPython(use, short string) *cobra.Command {
	engine, _, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use:                engine,
		Short:              short + ", by the Python package: python -m nero.submit " + use,
		DisableFlagParsing: true,
		Example:            fmt.Sprintf("  nero submit %s  # says what to type: python -m nero.submit %s", engine, use),
		Long: fmt.Sprintf("%s is handed shards by the Python package, which goes on with what is missing, too: "+
			"python -m nero.submit %s\nSee docs/CLUSTERS.md.", engine, use),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return c.Help()
			}
			if len(args) == 0 {
				args = strings.Fields(use)[1:]
			}
			return fmt.Errorf("%s is handed shards by the Python package: python -m nero.submit %s; "+
				"see docs/CLUSTERS.md", engine, app.CommandLine(append([]string{engine}, args...)))
		},
	}
}

// addTasks adds the flags of tasks.
func addTasks(c *cobra.Command, o *app.SubmitOptions) {
	c.Flags().IntVar(&o.Tasks, "tasks", app.MostTasks, "most `tasks`; each has a block of shards")
	c.Flags().IntVar(&o.AtOnce, "at-once", 0, "most `tasks` at the same time (default: the scheduler's)")
	c.Flags().IntVarP(&o.Workers, "workers", "w", 1, "shards, and processors, of a task at once")
	c.Flags().IntVar(&o.GPUs, "gpus", 0, "GPUs of a task")
	c.Flags().Var((*size)(&o.Memory), "memory",
		"memory of a task, a `size` such as 4GB (default: the site's, and 2 GiB in Kubernetes)")
	c.Flags().DurationVar(&o.Time, "time", 0, "most time of a task, such as 1h (default: the site's)")
	c.Flags().BoolVar(&o.AllowProgram, "allow-program", false,
		"let workers run the programs that the study names; look at them first")
}

func (a *App) submitSlurm() *cobra.Command {
	var o app.SubmitOptions
	dry, wait, cancel := false, false, false
	c := &cobra.Command{
		Use:   "slurm RUN [-- FLAGS OF SBATCH]",
		Short: "As an array of Slurm, with the merge behind it",
		Long: `slurm hands an array of tasks in, and the merge of the run behind it. Scripts and logs are in RUN.slurm, beside the
run. A task that fails by a storage, an endpoint or a signal is queued again, three times at most; one that would fail
again is not. The machines have to see the run, its data and models, and nero at the same paths as this one. A run in a
bucket is merged into a folder of its name here; credentials go along as variables of the environment.`,
		Example: "  nero submit slurm run --time 1h -- --partition=short --mem=4G\n" +
			"  nero submit slurm run --tasks 100 --at-once 20 --dry-run\n" +
			"  nero submit slurm run --cancel",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
				return errors.New("one run at a time; flags for sbatch stand behind --")
			}
			o.Flags = args[1:]
			s, err := a.app.Submission(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if cancel && (dry || wait) {
				return errors.New("--cancel takes back what was handed in: leave --dry-run and --wait out")
			}
			if cancel {
				if err := s.CancelSlurm(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintf(a.Out, "cancelled what Slurm had of %s; nero submit slurm goes on with what is missing\n",
					s.Dir)
				return nil
			}
			if dry {
				array, merge, err := s.Slurm()
				fmt.Fprint(a.Out, array, merge)
				return err
			}
			if s.Complete {
				fmt.Fprintf(a.Out, "%s is complete\n", s.Dir)
				return nil
			}
			array, merge, err := s.SubmitSlurm(cmd.Context(), wait)
			if err != nil {
				return err
			}
			if array != "" {
				fmt.Fprintf(a.Out, "array %s: tasks %s of up to %d shards; logs in %s\n", array, s.Array, s.Block,
					s.Logs)
			}
			fmt.Fprintf(a.Out, "merge %s\nhow far it is: nero status %s --watch\n", merge, s.Dir)
			return nil
		},
	}
	addTasks(c, &o)
	c.Flags().BoolVar(&dry, "dry-run", false, "print the scripts, and hand nothing in")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the run is merged")
	c.Flags().BoolVar(&cancel, "cancel", false, "take the tasks of the run, and its merge, back")
	return c
}

func (a *App) submitKubernetes() *cobra.Command {
	var o app.SubmitOptions
	c := &cobra.Command{
		Use:   "kubernetes RUN",
		Short: "As the manifest of an Indexed Job",
		Long: `kubernetes prints a manifest. Its containers find the run, its data and models at the paths that they have here, on
the volume of a claim. A lost node or an eviction does not count as a failure, exit code 2 ends the job at once, and
another is tried again, three times at most for each task. A run in a bucket needs no claim, unless data and models are
on one, and gets its credentials from a secret.`,
		Example: "  nero submit kubernetes run --image IMAGE --claim CLAIM | kubectl apply -f -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.app.Submission(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			text, err := s.Kubernetes()
			fmt.Fprint(a.Out, text)
			return err
		},
	}
	addTasks(c, &o)
	c.Flags().StringVar(&o.Image, "image", "", "the `image` of a container that holds nero")
	c.Flags().StringVar(&o.Claim, "claim", "", "the `claim` of the volume that holds the run, its data and models")
	c.Flags().StringVar(&o.Secret, "secret", "",
		"the `secret` whose keys become variables, such as the credentials of a run in a bucket")
	c.Flags().StringVar(&o.Mount, "mount", "",
		"the `folder` at which that volume is mounted (default: that which holds the run)")
	return c
}
