package app

import (
	"os"
	"path/filepath"

	"nero/run/job"
)

// OpenStudy reads a study file. Paths in it are relative to its folder.
func OpenStudy(file string) (*job.Study, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := job.ParseStudy(file, b)
	if err != nil {
		return nil, err
	}
	s.Resolve(filepath.Dir(file))
	return s, nil
}
