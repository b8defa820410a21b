package repeat

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

// An interview that is stopped anywhere, and whose last line may be torn, goes on where it was: the answers are those
// of one that was not stopped, and nothing is asked twice that was kept.
func TestNotebookGoesOn(t *testing.T) {
	const times = 3
	answer := func(q Question) Answer {
		switch {
		case q.Object == 2 && q.View == 1:
			return Answer{Outcome: RateLimited, Why: "slow down"}
		case q.Object == 3:
			return OfNumbers([]float64{math.NaN(), 1})
		case q.Object == 4:
			return OfNumbers([]float64{0.1, -3e-17})
		case q.View == 1:
			return said("a\nb \u2028" + label(q.Object))
		}
		return said(label(q.Object))
	}
	views := []string{"A", "B"}
	whole := subject(6, views, false, answer)
	want, err := whole.Collect(t.Context(), times, 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int64{0, 1, 7, 20, 35} {
		for _, torn := range []int64{0, 1, 30} {
			file := filepath.Join(t.TempDir(), "answers.jsonl")
			count := int64(0)
			ask := func(end int64) (Times, int64, error) {
				n, err := OpenNotebook(file, "these")
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close() //nolint:errcheck // read below
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := subject(6, views, false, answer)
				s.Notebook = n
				began := atomic.LoadInt64(&count)
				s.Ask = func(ctx context.Context, q Question) (Answer, error) {
					if atomic.AddInt64(&count, 1) > end {
						cancel()
						return Answer{}, ctx.Err()
					}
					return answer(q), nil
				}
				got, err := s.Collect(ctx, times, 2, 7)
				return got, atomic.LoadInt64(&count) - began, err
			}
			if _, _, err := ask(stop); !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped after %d: %v", stop, err)
			}
			if info, err := os.Stat(file); err == nil && torn > 0 {
				if err := os.Truncate(file, max(0, info.Size()-torn)); err != nil {
					t.Fatal(err)
				}
			}
			got, again, err := ask(1 << 40)
			if err != nil {
				t.Fatalf("after %d, torn by %d: %v", stop, torn, err)
			}
			for i := range want {
				for v := range want[i] {
					for k := range want[i][v] {
						x, y := want[i][v][k], got[i][v][k]
						if x.Outcome == NotFinite {
							x.Numbers, y.Numbers = nil, nil // compared with nothing
						}
						if !reflect.DeepEqual(x, y) {
							t.Fatalf("after %d, torn by %d: %+v, want %+v", stop, torn, y, x)
						}
					}
				}
			}
			if most := 36 - stop + 2; again > most || torn == 0 && again != 36-stop {
				t.Errorf("after %d, torn by %d: %d are asked again", stop, torn, again)
			}
		}
	}
}

func TestNotebookRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	n, err := OpenNotebook(file, "these")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Put("m", Question{}, Answer{Outcome: Unreachable}), n.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file without an answer")
	}
	if err := errors.Join(n.Put("m", Question{1, 2, 3}, said("x")), n.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenNotebook(file, "others"); !errors.Is(err, ErrOtherQuestions) ||
		!strings.HasPrefix(err.Error(), file+": ") {
		t.Errorf("other questions: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(b) + "{}\n":      `:3: "" is no outcome; remove the file`,
		string(b) + "nothing\n": ":3: invalid character",
		"{}\n":                  "answers to other questions",
		strings.Replace(string(b), "answered", "guessed", 1): `:2: "guessed" is no outcome`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenNotebook(file, "these"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add([]byte(`{"format":1,"asked":"these"}` + "\n" + `{"model":"m","object":1,"view":0,"repeat":2,"outcome":"answered"}` +
		"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "answers.jsonl")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := OpenNotebook(file, "these")
		if err != nil {
			if !strings.HasPrefix(err.Error(), file) {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		before := n.Len()
		if err := errors.Join(n.Put("new", Question{9, 9, 9}, said("x")), n.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := OpenNotebook(file, "these")
		if err != nil || again.Len() != before+1 && again.Len() != before {
			t.Fatalf("%v: %d answers, and one more is %d", err, before, again.Len())
		}
	})
}
