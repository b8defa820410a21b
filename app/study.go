package app

import (
	"fmt"
	"path/filepath"

	"nero/internal/disk"
	"nero/run/job"
)

// OpenStudy reads a study file. Paths in it are relative to its folder.
func (a *App) OpenStudy(file string) (*job.Study, error) {
	b, err := disk.Bounded(file, job.MaxStudy)
	if err != nil {
		return nil, fmt.Errorf("%w; want the path of a study, a file in YAML as nero schema describes it", err)
	}
	s, err := job.ParseStudy(file, b, a.Parts.words())
	if err != nil {
		return nil, err
	}
	s.Resolve(filepath.Dir(file))
	return s, nil
}

// Validate holds a study that was changed, or was never in a file, against the rules of study files.
func (a *App) Validate(s *job.Study) error { return s.Validate(a.Parts.words()) }
