package audit

import (
	"sync"

	"nero/data/dataset"
)

// mostSamples bounds the decoded samples that an audit keeps, in bytes.
const mostSamples = 64 << 20

// samples are those of an audit, decoded once as far as there is room: nearly every check reads the first ones, and
// some formats render or read a whole volume for each.
type samples struct {
	read func(i int) (dataset.Sample, error)

	mu   sync.Mutex
	kept map[int]dataset.Sample
	room int
}

// once reads samples by read. What it keeps is shared and must not be changed.
func once(read func(i int) (dataset.Sample, error), room int) func(i int) (dataset.Sample, error) {
	s := &samples{read: read, kept: map[int]dataset.Sample{}, room: room}
	return s.sample
}

func (s *samples) sample(i int) (dataset.Sample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.kept[i]; ok {
		return x, nil
	}
	x, err := s.read(i)
	if err != nil || x.Value == nil {
		return x, err
	}
	bytes := x.Value.Bytes()
	if x.Target != nil {
		bytes += x.Target.Bytes()
	}
	if bytes <= s.room {
		s.kept[i] = x
		s.room -= bytes
	}
	return x, nil
}
