//go:build unix

// Command million makes a run of a million samples, the same each time, and measures what the program's own commands
// take for it: plan, shard, merge, serve, report.
//
//	go run ./bench/million study DIR [-samples N]       pictures, labels, two small models and study.yaml
//	go run ./bench/million rows RUN [-but N]            rows by formula, of all shards of a plan but the last N
//	go run ./bench/million photos DIR [-samples N]      a folder of so many small pictures
//	go run ./bench/million cluster [-evaluation S]      a job of 10^9 evaluations, planned and played through
//	go run ./bench/million steps -nero FILE -dir DIR    all of it, with time and memory of each step
//
// Rows by formula stand in for those of models where evaluating 144 million pairs of sample and element twice would
// take most of the time; everything else is done by nero itself, among it the last shards.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"nero/data/tensor"
	"nero/model/engine/tiny"
	"nero/run/job"
	"nero/run/store"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "million:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want study, rows, photos, cluster or steps; see the head of bench/million/main.go")
	}
	fl := flag.NewFlagSet(args[0], flag.ContinueOnError)
	samples := fl.Int("samples", 1_000_000, "how many")
	but := fl.Int("but", 4, "how many shards are left to nero")
	nero := fl.String("nero", "nero", "the program")
	dir := fl.String("dir", "", "folder to work in")
	elements := fl.Int("elements", 1000, "of the job that is played through")
	metrics := fl.Int("metrics", 5, "of that job")
	tasks := fl.Int("tasks", 500, "of that job at most")
	cores := fl.Int("cores", 500, "that work on it")
	var c costs
	for _, f := range []struct {
		to     *float64
		name   string
		preset float64
		doc    string
	}{
		{&c.evaluation, "evaluation", 0.01, "seconds of a core for one evaluation: 1 over what nero bench says"},
		{&c.open, "open", 0.31, "seconds of a core to open a worker"},
		{&c.bytes, "bytes", 4.6, "bytes of a value in the folder"},
		{&c.merge, "merge", 6e-8, "seconds of a core for a value in the merge"},
		{&c.price, "price", 0.04, "money for an hour of a core"},
		{&c.kills, "kills", 0.02, "kills of a task in an hour"},
		{&c.again, "again", 120, "seconds until a killed task runs again"},
	} {
		fl.Float64Var(f.to, f.name, f.preset, f.doc)
	}
	rest := args[1:]
	place := ""
	if len(rest) > 0 && rest[0] != "" && rest[0][0] != '-' {
		place, rest = rest[0], rest[1:]
	}
	if err := fl.Parse(rest); err != nil {
		return err
	}
	ctx := context.Background()
	for name, do := range map[string]func() error{
		"study":  func() error { return study(place, *samples) },
		"rows":   func() error { return rows(ctx, place, *but) },
		"photos": func() error { return photos(place, *samples) },
		"cluster": func() error {
			cluster(*samples, *elements, 1, *metrics, *tasks, *cores, c)
			return nil
		},
		"steps": func() error { return steps(ctx, *nero, *dir, *samples, *but) },
	} {
		if name == args[0] {
			return do()
		}
	}
	return fmt.Errorf("unknown word %q", args[0])
}

const (
	side    = 4
	classes = 10
)

// mixed spreads a number over all others (splitmix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// pixel is one of picture i.
func pixel(i, at int) byte { return byte(mixed(uint64(i)*side*side + uint64(at))) }

// study writes what a study of so many pictures needs.
func study(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	pictures, labels := make([]byte, 0, n*side*side), make([]byte, n)
	for i := range n {
		for at := range side * side {
			pictures = append(pictures, pixel(i, at))
		}
		labels[i] = byte(i % classes)
	}
	head := func(sizes ...int) []byte {
		b := []byte{0, 0, 8, byte(len(sizes))}
		for _, s := range sizes {
			b = binary.BigEndian.AppendUint32(b, uint32(s))
		}
		return b
	}
	text := `models:
  - {name: one, onnx: one.onnx}
  - {name: two, onnx: two.onnx}
data: {images: images-idx3-ubyte, labels: labels-idx1-ubyte}
group: {name: SO(2), orbit: {grid: 72}}
output: {space: scores, decode: softmax}
metrics: [confidence, accuracy]
`
	for name, b := range map[string][]byte{
		"images-idx3-ubyte": append(head(n, side, side), pictures...),
		"labels-idx1-ubyte": append(head(n), labels...),
		"one.onnx":          model(1), "two.onnx": model(2), "study.yaml": []byte(text),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// model is one matrix.
func model(seed uint64) []byte {
	w := make([]float32, side*side*classes)
	for i := range w {
		w[i] = float32(mixed(seed<<32+uint64(i))%2001)/1000 - 1
	}
	return tiny.Model{
		Nodes: []tiny.Node{
			{Op: "Flatten", Inputs: []string{"x"}, Outputs: []string{"f"}},
			{Op: "MatMul", Inputs: []string{"f", "w"}, Outputs: []string{"y"}},
		},
		Inputs:    []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free, 1, side, side}}},
		Outputs:   []tiny.Port{{Name: "y", DType: tensor.Float32, Shape: []int{tiny.Free, classes}}},
		Constants: []tensor.Named{{Name: "w", Tensor: tensor.FromFloat32(w, side*side, classes)}},
	}.Bytes()
}

// photos writes a folder of small pictures, in two folders of classes.
func photos(dir string, n int) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 1000
	for lo := 0; lo < n; lo += batch {
		at := filepath.Join(dir, strconv.Itoa(lo/batch%2), fmt.Sprintf("%04d", lo/batch))
		g.Go(func() error {
			if err := os.MkdirAll(at, 0o777); err != nil {
				return err
			}
			for i := lo; i < min(lo+batch, n); i++ {
				m := image.NewGray(image.Rect(0, 0, side, side))
				for k := range side * side {
					m.SetGray(k%side, k/side, color.Gray{Y: pixel(i, k)})
				}
				var b bytes.Buffer
				if err := png.Encode(&b, m); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("%07d.png", i)), b.Bytes(), 0o666); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	text := fmt.Sprintf("models: [one.onnx]\ndata: {images: %q, pattern: '^(?P<label>[^/]+)/', orientation: stored}\n"+
		"group: C4\noutput: {space: scores, decode: softmax}\nmetrics: [confidence]\n", filepath.Base(dir))
	beside := filepath.Dir(dir)
	return errors.Join(os.WriteFile(filepath.Join(beside, "photos.yaml"), []byte(text), 0o666),
		os.WriteFile(filepath.Join(beside, "one.onnx"), model(1), 0o666))
}

// rows keeps rows by formula for all shards of a plan but the last few.
func rows(ctx context.Context, dir string, but int) error {
	j, err := store.Planned(dir)
	if err != nil {
		return err
	}
	r, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	all := j.Shards()
	for _, s := range all[:max(0, len(all)-but)] {
		g.Go(func() error { return r.Commit(ctx, s, shardRows(j, s), nil) })
	}
	return errors.Join(g.Wait(), r.Close())
}

// shardRows are the rows of a shard.
func shardRows(j *job.Job, s job.Shard) []job.Row {
	out := make([]job.Row, 0, (s.Hi-s.Lo)*len(j.Models))
	e := len(j.Elements)
	for m := range j.Models {
		for i := s.Lo; i < s.Hi; i++ {
			row := job.Row{
				Model: m, Index: i, Sample: strconv.Itoa(i), Label: i % classes, Top: make([]int32, e),
				Support: float32(math.NaN()), Agreement: float32(math.NaN()),
			}
			first, second := make([]float32, e), make([]float32, e)
			of := mixed(uint64(i)<<8 + uint64(m))
			for k := range e {
				x := mixed(of + uint64(k))
				first[k] = 0.5 + 0.4*float32(math.Cos(float64(k)/float64(e)*2*math.Pi+float64(of%628)/100)) +
					float32(x%1000)/1e4
				row.Top[k] = int32(i % classes)
				if x%100 < 20 {
					row.Top[k] = int32(x / 100 % classes)
				}
				if row.Top[k] == int32(i%classes) {
					second[k] = 1
				}
			}
			row.Curves = [][]float32{first, second}
			out = append(out, row)
		}
	}
	return out
}
