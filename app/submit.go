package app

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"

	"nero/audit"
	"nero/present/words"
	"nero/run/job"
	"nero/run/store"
	"nero/run/store/object"
)

//go:embed submit
var submitted embed.FS

// MostTasks is into how many tasks a run is cut at most where nobody says: what arrays of Slurm hold unless the site
// allows more.
const MostTasks = 500

// SubmitOptions say how the shards of a planned run become tasks of a scheduler.
type SubmitOptions struct {
	// Tasks is how many there are at most; 0 for [MostTasks].
	Tasks int
	// AtOnce is how many run at the same time; 0 for as many as the scheduler likes.
	AtOnce int
	// Workers is how many shards, and processors, a task has at once; 0 for one.
	Workers int
	// GPUs is how many a task has.
	GPUs int
	// Memory is how many bytes a task has; 0 for what the site says, and [mostOfPod] in Kubernetes.
	Memory int64
	// Time is how long a task may take; 0 for what the site says.
	Time time.Duration
	// AllowProgram lets workers run the programs that the study names.
	AllowProgram bool
	// Flags are further ones for sbatch.
	Flags []string
	// Image is that of the containers, Claim the claim of the volume with the run, its data and models, and Mount where
	// containers find it; empty for the folder that holds the run.
	Image, Claim, Mount string
	// Secret is that of Kubernetes whose keys become variables of the containers, such as the credentials of a storage;
	// empty for none.
	Secret string
}

// Submission is a planned run as tasks of a scheduler.
type Submission struct {
	SubmitOptions
	// Name is that of the job, made of the folder's and the job's hash.
	Name string
	// Dir is the absolute path of the run, or its address in a bucket, and Logs the folder of scripts and logs beside
	// it.
	Dir, Logs string
	// To is the folder into which a run in a bucket is merged; empty for a run in a folder.
	To string
	// Program is the path of nero.
	Program string
	// Block is how many shards a task has, and Array the tasks of which something is missing, as "0-4,7"; empty for
	// none.
	Block int
	Array string
	// Complete says that there is nothing to do.
	Complete bool
}

// Submission cuts the shards of a planned run into tasks.
func (a *App) Submission(ctx context.Context, dir string, o SubmitOptions) (*Submission, error) {
	for _, n := range []struct {
		name  string
		value int
	}{{"tasks", o.Tasks}, {"at-once", o.AtOnce}, {"workers", o.Workers}, {"gpus", o.GPUs}} {
		if n.value < 0 {
			return nil, fmt.Errorf("%s is %d, want at least 1, or 0 for the preset", a.option(n.name), n.value)
		}
	}
	if o.Memory < 0 {
		return nil, fmt.Errorf("%s is %d, want a size such as 4GB", a.option("memory"), o.Memory)
	}
	if o.Time < 0 {
		return nil, fmt.Errorf("%s is %v, want a time above 0, or 0 for what the site says", a.option("time"), o.Time)
	}
	for _, f := range o.Flags {
		if strings.ContainsAny(f, "\n\r") {
			return nil, fmt.Errorf("the flag %q has an end of line, and stands in a line of a script", f)
		}
	}
	s := &Submission{SubmitOptions: o, Program: "nero"}
	if self, err := os.Executable(); err == nil {
		s.Program = self
	}
	of := s.of
	if object.Is(dir) {
		of = func(dir string) (int, []job.Shard, error) { return a.submissionOf(ctx, s, dir) }
	}
	all, missing, err := of(dir)
	if err != nil {
		return nil, err
	}
	s.Workers = max(1, o.Workers)
	if s.Tasks == 0 {
		s.Tasks = MostTasks
	}
	s.Block = max(1, (all+s.Tasks-1)/s.Tasks)
	s.Tasks = (all + s.Block - 1) / s.Block
	var todo []job.Shard // tasks, written as shards are
	for _, m := range missing {
		if t := m.Index / s.Block; len(todo) == 0 || todo[len(todo)-1].Index != t {
			todo = append(todo, job.Shard{Index: t})
		}
	}
	s.Array = store.Indexes(todo)
	return s, nil
}

// of names a submission after the run or the audit in a folder, and says how many shards it has, and which are missing.
func (s *Submission) of(dir string) (shards int, missing []job.Shard, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, nil, err
	}
	if strings.ContainsAny(abs, "\n\r") {
		return 0, nil, fmt.Errorf("%q: a path with an end of line cannot stand in a script; rename the folder", abs)
	}
	hash, shards, missing, complete, err := shardsIn(abs)
	if err != nil {
		return 0, nil, err
	}
	s.Dir, s.Logs, s.Complete = abs, abs+".slurm", complete
	s.Name = jobName(filepath.Base(abs), hash)
	return shards, missing, nil
}

// shardsIn says of the folder of a planned run or audit by which digest it goes, how many shards it has, which of them
// are missing and whether it is complete.
func shardsIn(dir string) (hash string, all int, missing []job.Shard, complete bool, err error) {
	p, err := plannedAudit(dir)
	if err != nil {
		return "", 0, nil, false, err
	}
	if p != nil {
		_, err := os.Stat(filepath.Join(dir, AuditFile("json")))
		return p.id, len(p.Shards), p.missing(dir), err == nil, nil
	}
	if _, err := store.Planned(dir); err != nil {
		return "", 0, nil, false, unplanned(dir, err)
	}
	r, err := store.Open(dir)
	if err != nil {
		return "", 0, nil, false, err
	}
	return r.Hash(), len(r.Job().Shards()), r.Missing(), r.Complete(), nil
}

// jobName is a name that every scheduler takes: that of the folder and the beginning of the job's hash.
func jobName(folder, hash string) string {
	plain := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(folder), "-"), "-")
	return "nero-" + strings.Trim(plain[:min(len(plain), 40)]+"-"+hash[:8], "-")
}

// mostOfPod is what a task of Kubernetes has where nobody says: the program takes some hundred megabytes, a model of
// photos with its batch a gigabyte.
const mostOfPod = 2 << 30

// quantity is a number of bytes as Kubernetes writes it.
func quantity(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"Gi", 1 << 30}, {"Mi", 1 << 20}} {
		if n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// render fills in one of the templates.
func (s *Submission) render(name string) (string, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"quote": audit.ShellQuote,
		"words": func(flags []string) string {
			quoted := make([]string, len(flags))
			for i, f := range flags {
				quoted[i] = audit.ShellQuote(f)
			}
			return strings.Join(quoted, " ")
		},
		"log": func(dir, file string) string { // of which sbatch reads % as a pattern
			return audit.ShellQuote(strings.ReplaceAll(dir, "%", "%%") + "/" + file)
		},
		"clock": func(d time.Duration) string {
			n := int((d + time.Second - 1) / time.Second)
			return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
		},
		"kubernetes": quantity,
		"slurm":      func(n int64) string { return fmt.Sprintf("%dM", (n+1<<20-1)>>20) },
		"seconds":    func(d time.Duration) int { return int((d + time.Second - 1) / time.Second) },
		"json": func(text string) (string, error) { // which is a text in YAML, too
			b, err := json.Marshal(text)
			return string(b), err
		},
	}).ParseFS(submitted, "submit/"+name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, name, s)
	return b.String(), err
}

// Kubernetes is the manifest of an Indexed Job.
func (s *Submission) Kubernetes() (string, error) {
	switch {
	case s.Image == "":
		return "", errors.New("which image? name one that holds nero with --image")
	case s.Claim == "" && s.To == "":
		return "", errors.New("which volume? name the claim of the one that holds the run, its data and models with " +
			"--claim")
	case len(s.Flags) > 0:
		return "", fmt.Errorf("%s: flags behind -- are for sbatch; change the manifest instead", s.Flags[0])
	}
	if s.To != "" && s.Claim != "" && s.Mount == "" {
		return "", fmt.Errorf("where do containers find the volume of %s? name the folder with --mount", s.Claim)
	}
	if s.Mount == "" {
		s.Mount = filepath.Dir(s.Dir)
	}
	s.Memory = cmp.Or(s.Memory, mostOfPod)
	if s.To != "" {
		return s.render("kubernetes.yaml.tmpl")
	}
	if in, err := filepath.Rel(s.Mount, s.Dir); err != nil || !filepath.IsLocal(in) {
		return "", fmt.Errorf("--mount %s does not hold %s: containers find the run at the path that it has here",
			s.Mount, s.Dir)
	}
	return s.render("kubernetes.yaml.tmpl")
}

// Slurm are the scripts of an array and of the merge behind it; the first is empty where no shard is missing.
func (s *Submission) Slurm() (array, merge string, err error) {
	if s.Array != "" {
		if array, err = s.render("slurm.sh.tmpl"); err != nil {
			return "", "", err
		}
	}
	merge, err = s.render("merge.sh.tmpl")
	return array, merge, err
}

// SubmitSlurm hands the tasks of which something is missing, and the merge behind them, to Slurm, and returns what they
// are called there. With wait it returns when the merge is done; what does not depend on anybody is not waited for.
func (s *Submission) SubmitSlurm(ctx context.Context, wait bool) (array, merge string, err error) {
	tasks, behind, err := s.Slurm()
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(s.Logs, 0o777); err != nil {
		return "", "", err
	}
	last := []string{"--parsable"}
	if tasks != "" {
		if array, err = s.sbatch(ctx, "array.sh", tasks, "--parsable"); err != nil {
			return "", "", err
		}
		// Whatever became of the tasks: if something is missing, the merge says what.
		last = append(last, "--dependency=afterany:"+array)
	}
	if wait {
		last = append(last, "--wait")
	}
	merge, err = s.sbatch(ctx, "merge.sh", behind, last...)
	return array, merge, err
}

// CancelSlurm takes the tasks of a run, and the merge behind them, back from Slurm. What is kept stays, and what was
// not handed in is no mistake.
func (s *Submission) CancelSlurm(ctx context.Context) error {
	// The merge first, which else would begin.
	for _, name := range []string{s.Name + "-merge", s.Name} {
		c := exec.CommandContext(ctx, "scancel", fmt.Sprintf("--user=%d", os.Getuid()), "--name="+name)
		out, err := c.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) {
			return errors.New("there is no scancel here: cancel from a machine of the cluster")
		}
		if err != nil {
			return fmt.Errorf("scancel --name=%s: %w: %s", name, err, words.Line(string(out)))
		}
	}
	return nil
}

// sbatch writes a script and hands it in.
func (s *Submission) sbatch(ctx context.Context, name, text string, flags ...string) (string, error) {
	at := filepath.Join(s.Logs, name)
	if err := writeFile(at, []byte(text)); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "sbatch", append(flags, at)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("there is no sbatch here: submit from a machine of the cluster, or take the scripts of " +
			"--dry-run there")
	}
	if err != nil {
		return "", fmt.Errorf("sbatch %s: %w: %s", at, err, words.Line(said.String()))
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";") // a cluster's name may follow
	return id, nil
}
