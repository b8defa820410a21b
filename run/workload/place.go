package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/run/job"
)

// places are the execution providers of a study: those that models are on where none is said of them, and those of each
// model. What is asked for beside the study takes the place of all that it says.
type places struct {
	all  provider.List
	each []provider.List
}

// place reads where models are to run.
func (w *Workload) place(o Options) (places, error) {
	s := w.Study
	var p places
	var err error
	if o.Providers == nil {
		if p.all, err = provider.Said(s.Providers...); err != nil {
			return p, s.Errorf("providers", "%v", err)
		}
	} else {
		if p.all, err = provider.Parse(o.Providers...); err != nil {
			return p, fmt.Errorf("%s: %w", o.say("provider", "", ""), err)
		}
		// What the job keeps has no places of this machine: others go on with it.
		s.Providers, s.Models = nil, slices.Clone(s.Models)
		if !p.all.Plain() {
			s.Providers = []string{p.all.String()}
		}
		for i := range s.Models {
			s.Models[i].Providers = nil
		}
	}
	files := false
	for i, m := range s.Models {
		l := p.all
		switch {
		case !m.IsFile():
			l = provider.List{}
		case len(m.Providers) > 0:
			if l, err = provider.Said(m.Providers...); err != nil {
				return p, s.Errorf(fmt.Sprintf("models[%d].providers", i), "%v", err)
			}
		}
		files = files || m.IsFile()
		p.each = append(p.each, l)
	}
	if !files && !p.all.Plain() {
		why := fmt.Sprintf("%s is for models in files, and each of these answers from elsewhere, where that is "+
			"decided; leave it out", p.all.Names())
		if o.Providers != nil {
			return p, fmt.Errorf("%s: %s", o.say("provider", "", ""), why)
		}
		return p, s.Errorf("providers", "%s", why)
	}
	return p, nil
}

// needed are the lists of models in files, each once.
func (p places) needed(models []job.Model) []provider.List {
	var out []provider.List
	for i, l := range p.each {
		if models[i].IsFile() && !slices.ContainsFunc(out, l.Equal) {
			out = append(out, l)
		}
	}
	return out
}

// of is what the job says of a model: nothing where it runs where the engine runs the others.
func (p places) of(i int) string {
	if p.each[i].Equal(p.all) {
		return ""
	}
	return cmp.Or(p.each[i].String(), provider.CPU)
}

// start opens the engine.
func (w *Workload) start(ctx context.Context, files []file, o *Options) error {
	var err error
	switch {
	case w.allAway():
		o.Engine = files[0].away.Engine() // says of itself what there is to say
	case o.Engine == nil:
		o.Engine, err = o.OpenEngine(ctx, w.places.needed(w.Study.Models))
	default:
		for _, l := range w.places.needed(w.Study.Models) {
			err = errors.Join(err, engine.Lacking(o.Engine, l))
		}
	}
	if err != nil {
		return err
	}
	o.Engine = engine.On(o.Engine, w.places.all)
	w.engine = o.Engine
	return nil
}

// told notes where what of a model runs.
func (w *Workload) told(i int, m job.Model, s engine.Session) {
	l := w.places.each[i]
	if l.Plain() {
		return
	}
	text := "on " + l.Names()
	if at, ok := s.(engine.Placed); ok {
		text = at.Placement().String()
	}
	w.note("%s: %s", m.Name, text)
	if why := l.Varies(); why != "" {
		w.note("%s: %s", m.Name, why)
	}
}

// EngineOf is what runs a model, without limits of time.
func (w *Workload) EngineOf(model string) engine.Engine {
	if f := w.opened[model]; f != nil && f.engine != nil {
		return f.engine
	}
	return w.engine
}
