package define

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"nero/internal/process"
	"nero/symmetry/matrix"
)

// Starter starts a program that answers questions about a group, with its standard input to write to and its standard
// output to read from. Close ends it, and so does the end of the context.
type Starter func(ctx context.Context, command []string) (io.ReadWriteCloser, error)

// Command is the [Starter] that runs programs of this machine, in the folder dir.
//
// The protocol is one JSON object per line. The program is asked, and answers each question with one line, or with
// {"error": "why"}:
//
//	{"op": "hello", "version": 1}                               {"elements": ["e", "a"], "representations": {"plane": 2}}
//	{"op": "products", "element": 0}                            {"products": [0, 1]}, the numbers of element∘h for every h
//	{"op": "matrix", "representation": "plane", "element": 1}   {"matrix": [[-1, 0], [0, -1]]}
//	{"op": "bye"}                                               the program ends
//
// All answers are read and checked when the group is loaded; then the program ends, and the group depends on it no
// more.
func Command(dir string) Starter {
	return func(ctx context.Context, command []string) (io.ReadWriteCloser, error) {
		if len(command) == 0 {
			return nil, errors.New("program: command is empty: expected the program and its arguments")
		}
		c := exec.Command(command[0], command[1:]...) //nolint:noctx // what it starts is ended with it, below
		c.Dir = dir
		p, err := process.Start(c, nil)
		if err != nil {
			return nil, fmt.Errorf("program %s does not start: %w", command[0], err)
		}
		// What the program has started may hold the other end of its output: reading would wait for that.
		stop := context.AfterFunc(ctx, func() { p.Kill(); _ = p.Out.Close() })
		return &running{p, stop}, nil
	}
}

type running struct {
	p *process.Process
	// forgets the end of the context
	stop func() bool
}

func (r *running) Read(b []byte) (int, error)  { return r.p.Out.Read(b) }
func (r *running) Write(b []byte) (int, error) { return r.p.In.Write(b) }

// Close waits for the program, at most until its context ends, and then for the end of what it has left behind.
func (r *running) Close() error {
	defer r.stop()
	err := r.p.In.Close()
	<-r.p.Gone()
	_ = r.p.Out.Close() // only read
	return errors.Join(err, r.p.Err())
}

// dialog asks a program.
type dialog struct {
	to   io.Writer
	from *bufio.Scanner
	ctx  context.Context //nolint:containedctx // it lasts as long as the dialog
	wait time.Duration
}

type question struct {
	Op             string `json:"op"`
	Version        int    `json:"version,omitempty"`
	Element        *int   `json:"element,omitempty"`
	Representation string `json:"representation,omitempty"`
}

type answer struct {
	Error           string         `json:"error"`
	Elements        []string       `json:"elements"`
	Representations map[string]int `json:"representations"`
	Products        []int          `json:"products"`
	Matrix          [][]float64    `json:"matrix"`
}

func (d *dialog) ask(q question) (answer, error) {
	b, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	fail := func(err error) (answer, error) {
		if d.ctx.Err() != nil {
			err = fmt.Errorf("all its answers were to come within %s", d.wait)
		}
		return answer{}, fmt.Errorf("program: no answer to %s: %w", b, err)
	}
	if _, err := d.to.Write(append(b, '\n')); err != nil {
		return fail(err)
	}
	if !d.from.Scan() {
		err := d.from.Err()
		if err == nil {
			err = errors.New("its output ended")
		}
		return fail(err)
	}
	var a answer
	if err := json.Unmarshal(d.from.Bytes(), &a); err != nil {
		return answer{}, fmt.Errorf("program: its answer to %s is no JSON object as expected: %w", b, err)
	}
	if a.Error != "" {
		return answer{}, fmt.Errorf("program: its answer to %s: %s", b, a.Error)
	}
	return a, nil
}

// fromProgram reads a finite group from a program.
func fromProgram(ctx context.Context, name string, command []string, wait time.Duration, start Starter) (t *table,
	err error,
) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p, err := start(ctx, command)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := p.Close(); err != nil && e != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w (the program ended with: %w)", err, e)
		}
	}()
	const longest = 1 << 24 // bytes of one answer
	scan := bufio.NewScanner(p)
	scan.Buffer(nil, longest)
	d := &dialog{to: p, from: scan, ctx: ctx, wait: wait}
	hello, err := d.ask(question{Op: "hello", Version: 1})
	if err != nil {
		return nil, err
	}
	n := len(hello.Elements)
	if n == 0 || n > MaxTable {
		return nil, fmt.Errorf("program: %d elements: expected 1 to %d", n, MaxTable)
	}
	mul := make([][]int, n)
	for i := range n {
		a, err := d.ask(question{Op: "products", Element: &i})
		if err != nil {
			return nil, err
		}
		mul[i] = a.Products
	}
	t, err = newTable(name, hello.Elements, mul)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	number := map[string]int{}
	for i, l := range t.labels {
		number[l] = i
	}
	for rep, dim := range hello.Representations {
		if dim < 1 || dim > maxDim {
			return nil, fmt.Errorf("program: representation %s has %d dimensions: expected 1 to %d", rep, dim, maxDim)
		}
		ms := make([]matrix.Square, n)
		for i, l := range hello.Elements {
			a, err := d.ask(question{Op: "matrix", Representation: rep, Element: &i})
			if err != nil {
				return nil, err
			}
			m, err := squareOf(a.Matrix)
			if err != nil || m.N != dim {
				return nil, fmt.Errorf(
					"program: the matrix of %s in representation %s: expected %d rows of %d numbers: %w", l, rep, dim,
					dim, err)
			}
			ms[number[l]] = m
		}
		if err := t.represent(rep, dim, ms); err != nil {
			return nil, fmt.Errorf("program: %w", err)
		}
	}
	if _, err := p.Write([]byte(`{"op":"bye"}` + "\n")); err != nil {
		return nil, fmt.Errorf("program: it ended before it was told to: %w", err)
	}
	return t, nil
}
