package repeat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Notebook holds the answers of an interview that is under way, in a file: one that is stopped goes on where it was.
// The first line says what was asked, every other one is an answer. It is safe for concurrent use.
type Notebook struct {
	name, asked string
	before      map[line]Answer

	mu sync.Mutex
	// nil until there is something to keep
	f *os.File
	// what is whole of the file that was there
	size int64
}

// line names a question in a file.
type line struct {
	Model  string `json:"model"`
	Object int    `json:"object"`
	View   int    `json:"view"`
	Repeat int    `json:"repeat"`
}

// noted is an answer in a file.
type noted struct {
	line

	Outcome string    `json:"outcome"`
	Text    string    `json:"text,omitempty"`
	Numbers []float64 `json:"numbers,omitempty"`
	Raw     string    `json:"raw,omitempty"`
	Why     string    `json:"why,omitempty"`
}

// head is the first line.
type head struct {
	Format int    `json:"format"`
	Asked  string `json:"asked"`
}

// ErrOtherQuestions is that a file holds answers to other questions.
var ErrOtherQuestions = errors.New("it holds answers to other questions: the study, the data or a model was another " +
	"one; remove the file, or name another folder")

// OpenNotebook opens the file of a name, which need not be there. What is asked is told from all else by a digest. A
// line that was not written to its end is left out, and what is asked there is asked again.
func OpenNotebook(name, asked string) (*Notebook, error) {
	k := &Notebook{name: name, asked: asked, before: map[line]Answer{}}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	return k, k.read(b)
}

func (k *Notebook) read(b []byte) error {
	r := bufio.NewReader(bytes.NewReader(b))
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // stopped while it was written
			return nil
		}
		if n == 1 {
			var h head
			if err := json.Unmarshal(text, &h); err != nil || h.Format != FormatNumber || h.Asked != k.asked {
				return fmt.Errorf("%s: %w", k.name, ErrOtherQuestions)
			}
			k.size = int64(len(text))
			continue
		}
		var s noted
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("%s:%d: %w; remove the file, so that all is asked again", k.name, n, err)
		}
		i := slices.IndexFunc(Outcomes(), func(o *Outcome) bool { return o.Name == s.Outcome })
		if i < 0 {
			return fmt.Errorf("%s:%d: %q is no outcome; remove the file, so that all is asked again", k.name, n,
				s.Outcome)
		}
		k.before[s.line] = Answer{
			Outcome: Outcomes()[i], Text: s.Text, Numbers: s.Numbers, Raw: s.Raw, Why: s.Why,
		}
		k.size += int64(len(text))
	}
}

// Len is how many answers there were.
func (k *Notebook) Len() int { return len(k.before) }

// Find is the answer that was there to a question.
func (k *Notebook) Find(model string, q Question) (Answer, bool) {
	a, ok := k.before[line{model, q.Object, q.View, q.Repeat}]
	return a, ok
}

// Put keeps an answer. That no server was there is not kept: it is asked again.
func (k *Notebook) Put(model string, q Question, a Answer) error {
	if a.Outcome == Unreachable {
		return nil
	}
	s := noted{
		line: line{model, q.Object, q.View, q.Repeat}, Outcome: a.Outcome.Name, Text: a.Text, Raw: a.Raw, Why: a.Why,
	}
	if a.Outcome == Answered { // others may have numbers that JSON has not, and are compared with nothing
		s.Numbers = a.Numbers
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.begin(); err != nil {
		return err
	}
	_, err = k.f.Write(append(b, '\n'))
	return err
}

// begin opens the file to write, with its first line. The lock is held.
func (k *Notebook) begin() error {
	if k.f != nil {
		return nil
	}
	f, err := os.OpenFile(k.name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	k.f = f
	if err := f.Truncate(k.size); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil || k.size > 0 {
		return err
	}
	b, err := json.Marshal(head{FormatNumber, k.asked})
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (k *Notebook) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.f == nil {
		return nil
	}
	err := k.f.Close()
	k.f = nil
	return err
}

// Remove removes the file once all is said.
func (k *Notebook) Remove() error {
	if err := k.Close(); err != nil {
		return err
	}
	if err := os.Remove(k.name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
