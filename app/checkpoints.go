package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"nero/data/dataset"
	"nero/run/job"
	"nero/watch"
)

// What a light audit looks at where its study says nothing of it.
const (
	lightSamples = 64
	// below the folder of the checkpoints; what lies there are the audits of nero watch.
	lightFolder = "nero-audits"
)

// settling is for how long the file of a model has to lie unchanged before it is read: it may be written just now.
const settling = 2 * time.Second

// lightChecks judge exact elements, and explain nothing.
func lightChecks() []string { return []string{"lattice"} }

// checkpoints are the models that a training leaves below a folder. Each is audited once, by a light study, and the
// audit is kept beside them.
type checkpoints struct {
	app     *App
	folder  string
	engine  Engine
	workers int
	study   job.Study
	// where the audits of this study are kept
	dir string
	// what was found of files, by their names
	known map[string]checkpoint
	// one of them was audited: the study is in order
	worked bool
}

// checkpoint is a file that was read.
type checkpoint struct {
	watch.Model
	digest string
	// why it could not be audited; empty where it was
	why string
}

// lighten is a study as checkpoints are audited by it: what it says stands, and where it says nothing few samples are
// moved by the elements that act exactly. The folder of its audits has a digest of all that they depend on: audits by
// another study are others.
func (a *App) lighten(s *job.Study, folder string, o WatchOptions) (*checkpoints, error) {
	c := &checkpoints{
		app: a, folder: folder, engine: o.Engine, workers: o.Workers, study: *s, known: map[string]checkpoint{},
	}
	if c.study.Audit.Samples == 0 {
		c.study.Audit.Samples = lightSamples
	}
	orbit := reflect.ValueOf(c.study.Group.Orbit).IsZero()
	if len(c.study.Audit.Checks) == 0 {
		c.study.Audit.Checks = lightChecks()
		if !orbit { // whoever says which elements wants all of them judged
			c.study.Audit.Checks = append(c.study.Audit.Checks, "endtoend")
		}
	}
	if orbit {
		c.study.Group.Orbit.Lattice = true
	}
	var like job.Model
	if len(s.Models) > 0 && s.Models[0].IsFile() {
		like = s.Models[0]
		like.Witness = "" // of that file alone
	}
	c.study.Models = []job.Model{like}
	asked := c.study
	asked.Watch, asked.Models = job.Watch{}, []job.Model{{Batch: like.Batch, Providers: like.Providers}}
	b, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	c.dir = path.Join(lightFolder, "s"+hex.EncodeToString(sum[:6]))
	return c, nil
}

// own tells whether a file below the folder is an audit that this command made.
func own(file string) bool { return strings.HasPrefix(file, lightFolder+"/") }

// training tells whether what lies below a folder are models and no audits but those of this command.
func training(found *watch.Found) bool {
	return len(found.Models) > 0 && !slices.ContainsFunc(found.Releases, func(r *watch.Release) bool {
		return !own(r.File)
	})
}

// audit audits models that were not yet audited, the oldest first. made is how many there were, waiting how many are
// still being written. What cannot be audited is told, and tried again when the file changes.
func (c *checkpoints) audit(ctx context.Context, models []watch.Model, following bool) (made, waiting int,
	skipped []watch.Skipped, err error,
) {
	asked := false
	for _, m := range models {
		if own(m.File) {
			continue
		}
		if now := c.app.Now; following && now != nil && now().Sub(m.Written) < settling {
			waiting++
			continue
		}
		had, ok := c.known[m.File]
		if !ok || had.Model != m {
			had = checkpoint{Model: m}
			if had.digest, err = dataset.Digest(filepath.Join(c.folder, filepath.FromSlash(m.File))); err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					continue // it went away just now
				}
				return made, waiting, nil, err
			}
			name := c.file(m.File, had.digest)
			switch _, err := os.Stat(name); {
			case err == nil: // by an earlier watch
				c.worked = true
			case !errors.Is(err, fs.ErrNotExist):
				return made, waiting, nil, err
			default:
				if !asked { // not after minutes of work
					if err := c.writable(); err != nil {
						return made, waiting, nil, err
					}
					asked = true
				}
				if had.why, err = c.one(ctx, m.File, name); err != nil {
					return made, waiting, nil, err
				}
				made++
			}
			c.known[m.File] = had
		}
		if had.why != "" {
			skipped = append(skipped, watch.Skipped{File: m.File, Why: "it could not be audited: " + had.why})
		}
	}
	return made, waiting, skipped, nil
}

// file is where the audit of a model is kept. The digest makes each version of a file that is written again and again a
// checkpoint of its own.
func (c *checkpoints) file(model, digest string) string {
	name := strings.TrimSuffix(model, path.Ext(model)) + "-m" + digest[:12] + ".json"
	return filepath.Join(c.folder, filepath.FromSlash(c.dir), filepath.FromSlash(name))
}

func (c *checkpoints) writable() error {
	if err := writable(filepath.Join(c.folder, lightFolder)); err != nil {
		return fmt.Errorf("the audits of checkpoints are kept in %s: %w", filepath.Join(c.folder, lightFolder), err)
	}
	return nil
}

// one audits one model. The text says why it could not be; the error is for what ends the watch.
func (c *checkpoints) one(ctx context.Context, model, to string) (why string, err error) {
	s := c.study
	m := s.Models[0]
	m.ONNX = filepath.Join(c.folder, filepath.FromSlash(model))
	m.Name = job.NameOf(m.ONNX)
	s.Models = []job.Model{m}
	r, err := c.app.Audit(ctx, &s, AuditOptions{Engine: c.engine, Workers: c.workers})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if f, ok := errors.AsType[*job.FieldError](err); !c.worked && (!ok || !strings.HasPrefix(f.Path, "models[")) {
			return "", err // the study is to blame, and every model would fail
		}
		return err.Error(), nil
	}
	d := r.Document()
	if why := d.Models[0].Error; why != "" {
		return why, nil
	}
	var b bytes.Buffer
	if err := writeAudit(&b, d, "json"); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	c.worked = true
	return "", writeFile(to, b.Bytes())
}
