package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nero/audit"
	"nero/serve/api"
)

// waiting looks at planned audits that a server was told to show before they are made. Each is opened once, so that a
// shard of it is read once.
type waiting struct {
	a       *App
	mu      sync.Mutex
	watched map[string]*awaited
}

// awaited is a planned audit, with its plan as it was opened.
type awaited struct {
	plan  os.FileInfo
	watch *Watch
}

// mostIndexes bounds a list of shards in a command; longer ones are what nero status names.
const mostIndexes = 200

// look says how far the planned audit in a folder is, which people know as place, as nero status does.
func (w *waiting) look(ctx context.Context, dir, place string) (*api.Planned, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	plan, err := os.Stat(filepath.Join(dir, auditPlanName))
	if err != nil {
		return nil, err
	}
	x := w.watched[dir]
	if x == nil || !os.SameFile(x.plan, plan) || !x.plan.ModTime().Equal(plan.ModTime()) {
		at, err := w.a.Watch(ctx, dir)
		if err != nil {
			return nil, err
		}
		x = &awaited{plan, at}
		w.watched[dir] = x
	}
	s, err := x.watch.Status(ctx)
	if err != nil {
		return nil, err
	}
	if s.Complete { // in this moment
		return nil, nil //nolint:nilnil // it is an audit now
	}
	s.Dir = audit.ShellQuote(place)
	var says strings.Builder
	if err := s.WriteText(&says); err != nil {
		return nil, err
	}
	out := &api.Planned{
		Models: []string{}, Shards: s.Shards, Kept: s.Kept, Samples: s.Samples, Done: s.Done,
		Says: strings.TrimSpace(says.String()), Commands: []string{"nero merge " + s.Dir},
	}
	for _, sh := range x.watch.audit.Shards {
		if !slices.Contains(out.Models, sh.Model) {
			out.Models = append(out.Models, sh.Model)
		}
	}
	switch index := (Flags{}).Option(Option{Name: "index", Value: s.Todo}); {
	case s.Kept == s.Shards:
	case len(s.Todo) <= mostIndexes:
		out.Commands = slices.Insert(out.Commands, 0, fmt.Sprintf("nero shard %s %s", s.Dir, index))
	default: // which shards is for a scheduler to know
		out.Commands = slices.Insert(out.Commands, 0, "nero status "+s.Dir+" --json",
			"nero shard "+s.Dir+" --index ...")
	}
	return out, nil
}
