package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"nero/model/engine"
	"nero/model/engine/recall"
	"nero/model/engine/selftest"
	"nero/present/words"
	"nero/run/job"
)

// recall opens what models have answered on this machine.
func (a *App) recall(most int64) (*recall.Store, error) {
	cache := a.host().Cache
	if cache == "" {
		return nil, errors.New("there is no cache folder to keep answers in: the environment names no home folder")
	}
	s, err := recall.Open(filepath.Join(cache, "answers"), most, a.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("answers"), err)
	}
	return s, nil
}

// answered says what the answers were good for, and ends their use.
func (a *App) answered(s *recall.Store) {
	u := s.Use()
	_ = s.Close() // what is not written is asked for again
	text := fmt.Sprintf("of %s, %s had been answered before", words.Plural(u.Asked, "micro-batch", "micro-batches"),
		words.Count(u.Found))
	if u.Damaged > 0 {
		text += fmt.Sprintf("; %s damaged, and asked for again", words.Plural(u.Damaged, "answer was", "answers were"))
	}
	if u.Full != nil {
		text += fmt.Sprintf("; no more answers are kept: %v", u.Full)
	}
	a.notef("%s", text)
}

// bodyOf is an engine in a report: body, version, and where it runs models.
func bodyOf(e engine.Engine) string {
	i := e.Info()
	return job.Engine{Name: i.Name, Version: i.Version, Provider: i.Provider}.String()
}

// identity tells an engine on a kind of processor from every other that may answer differently in the last digit.
func identity(e engine.Engine, processor string) string {
	i := e.Info()
	i.Reason = ""
	b, err := json.Marshal(i)
	if err != nil {
		b = []byte(err.Error()) // texts and numbers cannot fail
	}
	text := string(b) + " " + processor
	if f, ok := e.(selftest.Fingerprinter); ok {
		text += " " + f.Fingerprint()
	}
	return text
}
