package probe

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"nero/data/dataset"
	"nero/run/job"
)

// finder looks for files that are not where a job says: a folder that was copied, moved or renamed as a whole has them
// at the same place beside the run.
type finder struct {
	// folders to look in, the nearest first
	bases []string
	// what leads from an old folder to a new one, once it was found
	moved map[string]string
}

// upward is how many folders above the run are looked in for what a job names with other folders around it.
const upward = 2

func newFinder(dir string, roots []string) *finder {
	f := &finder{moved: map[string]string{}}
	if abs, err := filepath.Abs(dir); err == nil {
		for range upward + 1 {
			f.bases = append(f.bases, abs)
			abs = filepath.Dir(abs)
		}
	}
	for _, r := range roots {
		if abs, err := filepath.Abs(r); err == nil {
			f.bases = append([]string{abs}, f.bases...)
		}
	}
	return f
}

// find is where a file or folder is, as far as ok accepts it; the name itself if it is not found. Of the name, the
// longest part that lies in one of the folders counts.
func (f *finder) find(name string, ok func(at string) bool) string {
	if name == "" || job.IsEndpoint(name) || ok(name) {
		return name
	}
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/")) // of a job from another system, too
	for dir := path.Dir(slashed); ; dir = path.Dir(dir) {
		if to, there := f.moved[dir]; there {
			if at := filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(slashed, dir))); ok(at) {
				return at
			}
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	parts := strings.Split(strings.Trim(slashed, "/"), "/")
	for cut := range parts {
		rest := path.Join(parts[cut:]...)
		if !filepath.IsLocal(filepath.FromSlash(rest)) {
			continue
		}
		for _, base := range f.bases {
			at := filepath.Join(base, filepath.FromSlash(rest))
			if !ok(at) {
				continue
			}
			// What lies beside it has moved along.
			from, to := path.Dir(slashed), filepath.Dir(at)
			f.moved[from] = to
			return at
		}
	}
	return name
}

// locate is the job with the paths at which its files are now. What is found elsewhere than the job says is taken only
// if it is the file of the job, by its checksum; folders are held against the checksums of what is in them later.
func locate(j *job.Job, dir string, roots []string) *job.Job {
	r := rooted(j, dir)
	f := newFinder(dir, roots)
	there := func(at string) bool {
		_, err := os.Stat(at)
		return err == nil
	}
	is := func(sum string) func(string) bool {
		return func(at string) bool {
			info, err := os.Stat(at)
			if err != nil || !info.Mode().IsRegular() {
				return false
			}
			now, err := dataset.Digest(at)
			return err == nil && now == sum
		}
	}
	for i := range r.Models {
		m := &r.Models[i]
		if m.Path != "" && !there(m.Path) {
			m.Path = f.find(m.Path, is(m.SHA256))
		}
	}
	for i := range r.Files {
		if d := &r.Files[i]; d.Path != "" && !there(d.Path) {
			d.Path = f.find(d.Path, is(d.SHA256))
		}
	}
	if t := &r.Study.Output.Type; t.Matrices != "" && !there(t.Matrices) {
		t.Matrices = f.find(t.Matrices, is(t.SHA256))
	}
	for _, p := range r.Study.Paths() {
		*p = f.find(*p, there)
	}
	return r
}

// Study is the study of a run with the paths at which its files are now; see [Options.Roots].
func Study(j *job.Job, dir string, roots []string) job.Study {
	at := locate(j, dir, roots)
	study := at.Study
	study.Models = append([]job.Model{}, study.Models...)
	for i := range study.Models {
		for _, m := range at.Models {
			if m.Name == study.Models[i].Name && study.Models[i].Endpoint == "" {
				study.Models[i].ONNX = m.Path
			}
		}
	}
	return study
}
