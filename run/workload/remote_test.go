package workload

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"nero/model/engine"
	"nero/model/engine/provider"
	"nero/model/engine/remote"
	"nero/model/engine/remote/remotetest"
	"nero/run/job"
	"nero/symmetry/action"
)

// served starts a server of a file and returns it with the study's model in place of the file.
func served(t *testing.T, e engine.Engine, file string, o remotetest.Options) (*remotetest.Server, *remotetest.Models) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	models := remotetest.NewModels(e)
	if err := models.Load(t.Context(), "m", b, engine.Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	s, err := remotetest.Start(models, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), models.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, models
}

// never is an engine that a study of endpoints does not need.
func never(t *testing.T) func(context.Context, []provider.List) (engine.Engine, error) {
	t.Helper()
	return func(context.Context, []provider.List) (engine.Engine, error) {
		t.Error("an engine is opened, and no model needs one")
		return nil, errors.New("no engine")
	}
}

// Rows of a model behind an endpoint are those of its file, bit for bit, whichever way it is reached; the job differs
// in what ran it.
func TestRemoteEqualsFile(t *testing.T) {
	data, file := pictures(t, 8, "a", "b"), model(t, "all", "n", 64)
	local, err := open(t, study(data, "C4", file), &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	want := rows(t, local)
	s, _ := served(t, &pixelwise{}, file, remotetest.Options{})
	var hashes []string
	for _, scheme := range []string{"grpc", "http"} {
		st := study(data, "C4")
		st.Models = []job.Model{{Name: "m0", Endpoint: s.URL(scheme, "m")}}
		w, err := Open(t.Context(), st, Options{OpenEngine: never(t), Rules: action.Rules()})
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, w); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the rows differ:\n%v\n%v", scheme, got, want)
		}
		if w.File("m0") != nil || w.Parameters["m0"] != 0 || w.Job.Engine != remoteEngine ||
			w.Job.Models[0].Batch != remoteBatch || w.Job.Models[0].Path != s.URL(scheme, "m") {
			t.Errorf("%s: %+v", scheme, w.Job)
		}
		for _, f := range []func() error{
			func() error { _, err := w.Interior("m0", w.Engine(), 1); return err },
			func() error { _, err := w.Reference("m0", 1); return err },
			func() error { _, err := w.On("m0", w.Engine()); return err },
		} {
			if err := f(); !errors.Is(err, ErrNoGraph) {
				t.Errorf("looking inside: %v", err)
			}
		}
		hashes = append(hashes, w.Hash)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if hashes[0] != hashes[1] || hashes[0] == local.Hash {
		t.Errorf("hashes %q, of the file %s", hashes, local.Hash)
	}
}

// What the job says of a model behind an endpoint changes with the model and with nothing else.
func TestRemoteFingerprint(t *testing.T) {
	data := pictures(t, 8, "a", "b")
	first, other := model(t, "all", "n", 64), model(t, "first", "n", 3)
	hash := func(file string, o remotetest.Options, change func(*job.Model)) string {
		t.Helper()
		s, _ := served(t, &pixelwise{}, file, o)
		st := study(data, "C4")
		st.Models = []job.Model{{Name: "m", Endpoint: s.URL("grpc", "m")}}
		change(&st.Models[0])
		w, err := Open(t.Context(), st, Options{OpenEngine: never(t), Rules: action.Rules()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }() // nothing is lost
		return w.Hash
	}
	same := func(*job.Model) {}
	a := hash(first, remotetest.Options{}, same)
	if hash(first, remotetest.Options{}, func(m *job.Model) { m.Timeout, m.Concurrency = 7, 1 }) != a {
		t.Error("how the model is asked changes the job")
	}
	for what, b := range map[string]string{
		"another model":   hash(other, remotetest.Options{}, same),
		"another version": hash(first, remotetest.Options{Version: "2"}, same),
		"another batch":   hash(first, remotetest.Options{}, func(m *job.Model) { m.Batch = 3 }),
	} {
		if a == b {
			t.Errorf("%s gives the same job", what)
		}
	}
}

func TestRemoteRefuses(t *testing.T) {
	data, file := pictures(t, 8, "a", "b"), model(t, "all", "n", 64)
	s, _ := served(t, &pixelwise{}, file, remotetest.Options{Token: "s3cr3t"})
	env := map[string]string{"TOKEN": "s3cr3t", "EMPTY": "", "HEADERS": "Authorization: Bearer s3cr3t", "BAD": "s3cr3t"}
	for want, change := range map[string]func(*job.Model){
		"models[0].endpoint: endpoint " + s.URL("grpc", "m") + ": refused": func(*job.Model) {},
		"GONE of token_env is not set":                                     func(m *job.Model) { m.TokenEnv = "GONE" },
		"EMPTY of token_env is not set":                                    func(m *job.Model) { m.TokenEnv = "EMPTY" },
		"GONE of headers_env is not set": func(m *job.Model) {
			m.HeadersEnv = "GONE"
		},
		"BAD of headers_env: line 1: expected Name: value": func(m *job.Model) { m.HeadersEnv = "BAD" },
		"ca: gone.pem: there is no such file":              func(m *job.Model) { m.CA = "gone.pem" },
		"the server has no model": func(m *job.Model) {
			m.TokenEnv,
				m.Endpoint = "TOKEN", s.URL("grpc", "gone")
		},
		"no endpoints today": func(m *job.Model) {
			m.TokenEnv,
				m.Version = "TOKEN", "forbidden"
		},
		"":  func(m *job.Model) { m.TokenEnv = "TOKEN" },
		" ": func(m *job.Model) { m.HeadersEnv = "HEADERS" },
	} {
		st := study(data, "C4")
		st.Models = []job.Model{{Name: "m", Endpoint: s.URL("grpc", "m")}}
		change(&st.Models[0])
		w, err := Open(t.Context(), st, Options{
			OpenEngine: never(t), Rules: action.Rules(),
			Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
			Retry:  remote.Retry{Attempts: 1, Base: time.Millisecond},
			NoEndpoint: func(m job.Model) error {
				if m.Version == "forbidden" {
					return errors.New("no endpoints today")
				}
				return nil
			},
		})
		if err == nil {
			_ = w.Close() // only opened
		}
		if (err == nil) != (strings.TrimSpace(want) == "") || err != nil &&
			(!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// A model that cannot be reached is not asked for a second time, which would take as long again.
func TestRemoteReachedOnce(t *testing.T) {
	st := study(pictures(t, 8, "a", "b"), "C4")
	st.Models = []job.Model{{Name: "m", Program: []string{"none"}}}
	asked := 0
	_, err := Open(t.Context(), st, Options{
		OpenEngine: never(t), Rules: action.Rules(),
		Program: func(job.Model) error {
			asked++
			return errors.New("it did not answer in time")
		},
	})
	if err == nil || !strings.Contains(err.Error(), "models[0].program: it did not answer in time") || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
