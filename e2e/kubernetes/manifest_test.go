// Package kubernetes holds what nero writes for Kubernetes against the types of its API. It is a module of its own,
// for nero needs none of them.
package kubernetes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// manifests are those that nero submit kubernetes writes, with little and with all that can be said.
func manifests(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob("../../app/testdata/submit/*-kubernetes.yaml")
	if err != nil || len(found) < 2 {
		t.Fatalf("%v, %v", found, err)
	}
	out := map[string]string{}
	for _, name := range found {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	return out
}

// decode reads a manifest as the API server does under strict validation of fields.
func decode(text string) (*batch.Job, error) {
	j := new(batch.Job)
	return j, yaml.UnmarshalStrict([]byte(text), j)
}

// Every manifest is an Indexed Job, whose rules name the container that there is.
func TestManifests(t *testing.T) {
	for name, text := range manifests(t) {
		j, err := decode(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := j.Spec
		if j.APIVersion != batch.SchemeGroupVersion.String() || j.Kind != "Job" ||
			*s.CompletionMode != batch.IndexedCompletion || *s.Completions < 1 ||
			*s.Parallelism < 1 || *s.BackoffLimitPerIndex != 3 || *s.MaxFailedIndexes != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		p := s.Template.Spec
		if p.RestartPolicy != core.RestartPolicyNever || len(p.Containers) != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		c := p.Containers[0]
		// A run in a folder lies on a volume, one in a bucket needs none.
		inBucket := strings.HasPrefix(c.Command[2], "s3://")
		if len(p.Volumes) != len(c.VolumeMounts) || len(p.Volumes) > 1 || len(p.Volumes) == 0 && !inBucket ||
			len(p.Volumes) == 1 && c.VolumeMounts[0].Name != p.Volumes[0].Name {
			t.Errorf("%s: %+v", name, p)
		}
		ignored, failed := 0, 0
		for _, r := range s.PodFailurePolicy.Rules {
			for _, on := range r.OnPodConditions {
				if r.Action == batch.PodFailurePolicyActionIgnore && on.Type == core.DisruptionTarget &&
					on.Status == core.ConditionTrue {
					ignored++
				}
			}
			if x := r.OnExitCodes; x != nil && r.Action == batch.PodFailurePolicyActionFailJob &&
				*x.ContainerName == c.Name &&
				x.Operator == batch.PodFailurePolicyOnExitCodesOpIn && len(x.Values) == 1 && x.Values[0] == 2 {
				failed++
			}
		}
		if ignored != 1 || failed != 1 {
			t.Errorf("%s: %+v", name, s.PodFailurePolicy)
		}
	}
}

// A key that is spelt wrongly is refused, whichever it is: else the test above would show nothing of keys that it does
// not look at.
func TestMisspelt(t *testing.T) {
	// Keys of lists of quantities are anybody's.
	free := map[string]bool{"cpu": true, "memory": true, "gpu": true}
	for name, text := range manifests(t) {
		keys := regexp.MustCompile(`[A-Za-z]+: `).FindAllStringIndex(text, -1)
		tried := 0
		for _, at := range keys {
			line := text[strings.LastIndexByte(text[:at[0]], '\n')+1 : at[1]]
			if strings.Contains(line, "#") || free[text[at[0]:at[1]-2]] {
				continue
			}
			tried++
			if _, err := decode(text[:at[1]-2] + "x" + text[at[1]-2:]); err == nil {
				t.Errorf("%s: a key %sx is taken", name, text[at[0]:at[1]-2])
			}
		}
		if tried < 25 {
			t.Errorf("%s: only %d keys", name, tried)
		}
	}
}
