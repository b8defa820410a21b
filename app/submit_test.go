package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nero/app"

	"github.com/goccy/go-yaml"
)

// TestSubmission holds scripts and manifest against golden files, with all that can be said and with nothing, and reads
// the manifest back.
func TestSubmission(t *testing.T) {
	for name, s := range map[string]app.Submission{
		"plain": {
			SubmitOptions: app.SubmitOptions{Workers: 1, Tasks: 12, Image: "nero:1", Claim: "runs", Mount: "/runs"},
		},
		"full": {
			SubmitOptions: app.SubmitOptions{
				Workers: 2, Tasks: 4, AtOnce: 3, GPUs: 1, Time: 90*time.Minute + time.Millisecond, AllowProgram: true,
				Flags: []string{"--partition=short", "--comment", "it's"}, Image: "registry/nero:1", Claim: "runs",
				Mount: "/runs",
			},
		},
		"bucket": {
			SubmitOptions: app.SubmitOptions{Workers: 1, Tasks: 12, Image: "nero:1", Secret: "storage"},
			Dir:           "s3://team/a 100% run", To: "/home/me/a 100% run",
		},
		"bucket-claim": {
			SubmitOptions: app.SubmitOptions{Workers: 1, Tasks: 12, Image: "nero:1", Claim: "data", Mount: "/data"},
			Dir:           "s3://team/a 100% run", To: "/home/me/a 100% run",
		},
	} {
		s.Name, s.Program = "nero-run-01234567", "/opt/nero"
		s.Logs = "/runs/a 100% run.slurm"
		if s.Dir == "" {
			s.Dir = "/runs/a 100% run"
		}
		s.Block, s.Array = 3, "0,2-3"
		array, merge, err := s.Slurm()
		if err != nil {
			t.Fatal(err)
		}
		plain := s
		plain.Flags = nil // which are for sbatch
		text, err := plain.Kubernetes()
		if err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]string{"array.sh": array, "merge.sh": merge, "kubernetes.yaml": text} {
			file := filepath.Join("testdata", "submit", name+"-"+what)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%s is not as before (%v):\n%s", file, err, got)
			}
		}
		var m struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name string }
			Spec       struct {
				CompletionMode       string `yaml:"completionMode"`
				Completions          int
				Parallelism          int
				BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
				MaxFailedIndexes     int `yaml:"maxFailedIndexes"`
				PodFailurePolicy     any `yaml:"podFailurePolicy"`
				Template             struct {
					Spec struct {
						RestartPolicy         string `yaml:"restartPolicy"`
						ActiveDeadlineSeconds int    `yaml:"activeDeadlineSeconds"`
						Containers            []struct {
							Name, Image  string
							Command      []string
							Resources    any
							VolumeMounts any `yaml:"volumeMounts"`
							EnvFrom      any `yaml:"envFrom"`
						}
						Volumes any
					}
				}
			}
		}
		if err := yaml.UnmarshalWithOptions([]byte(text), &m, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c := m.Spec.Template.Spec.Containers
		if m.Kind != "Job" || m.Spec.Completions != s.Tasks || len(c) != 1 || c[0].Command[2] != s.Dir ||
			c[0].Command[4] != "3" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
