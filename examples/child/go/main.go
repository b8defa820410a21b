// The program edges is a model that is a program, in Go. See docs/PROGRAMS.md.
//
//	go build -o edges .
//	nero inspect exec:./edges
//
// It reads pictures and returns how steep they are at each pixel: the length of the gradient by central differences,
// which turns with the picture. With --forward it takes differences to the next pixel, which does not.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
)

// head is what every frame begins with; JSON and tensors follow.
type head struct {
	Magic [4]byte // "NRL1"
	Call  uint32
	JSON  uint32
	Bytes uint64 // of tensors
}

// request is what nero asks, as far as this program needs it.
type request struct {
	Method string   `json:"method"`
	Inputs []tensor `json:"inputs"`
}

type tensor struct {
	Name     string      `json:"name"`
	Datatype string      `json:"datatype"`
	Shape    []int       `json:"shape"`
	Params   *parameters `json:"parameters,omitempty"`
}

type parameters struct {
	Bytes int `json:"binary_data_size"`
}

type object map[string]any

func main() {
	forward := flag.Bool("forward", false, "differences to the next pixel, which do not turn with the picture")
	flag.Parse()
	if err := serve(bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout), *forward); err != nil {
		fmt.Fprintln(os.Stderr, "edges:", err) // standard output is for frames alone
		os.Exit(1)
	}
}

// serve answers questions until there are no more.
func serve(in *bufio.Reader, out *bufio.Writer, forward bool) error {
	for {
		h, question, raw, err := read(in)
		if errors.Is(err, io.EOF) {
			return nil // nero needs us no more
		}
		if err != nil {
			return err
		}
		answer, tensors := reply(question, raw, forward)
		if err := write(out, h.Call, answer, tensors); err != nil {
			return err
		}
	}
}

func read(in io.Reader) (h head, r request, raw []byte, err error) {
	if err := binary.Read(in, binary.LittleEndian, &h); err != nil {
		return h, r, nil, err
	}
	if string(h.Magic[:]) != "NRL1" {
		return h, r, nil, fmt.Errorf("what came is no frame: %q", h.Magic)
	}
	text := make([]byte, h.JSON)
	if _, err := io.ReadFull(in, text); err != nil {
		return h, r, nil, io.ErrUnexpectedEOF
	}
	raw = make([]byte, h.Bytes)
	if _, err := io.ReadFull(in, raw); err != nil {
		return h, r, nil, io.ErrUnexpectedEOF
	}
	return h, r, raw, json.Unmarshal(text, &r)
}

func write(out *bufio.Writer, call uint32, answer any, tensors []byte) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	h := head{Call: call, JSON: uint32(len(text)), Bytes: uint64(len(tensors))}
	copy(h.Magic[:], "NRL1")
	return errors.Join(binary.Write(out, binary.LittleEndian, h), wrote(out.Write(text)), wrote(out.Write(tensors)),
		out.Flush()) // or nero waits for ever
}

func wrote(_ int, err error) error { return err }

// reply answers one frame.
func reply(r request, raw []byte, forward bool) (any, []byte) {
	port := func(name string) []tensor {
		return []tensor{{Name: name, Datatype: "FP32", Shape: []int{-1, 1, -1, -1}}}
	}
	switch r.Method {
	case "hello":
		return object{"hello": object{"protocol": 1, "program": "edges 1.0"}}, nil
	case "describe":
		return object{"name": "edges", "platform": "go", "inputs": port("x"), "outputs": port("edges")}, nil
	case "infer":
		x := r.Inputs[0] // nero sends what describe asked for, and nothing else
		h, w := x.Shape[2], x.Shape[3]
		pixels := make([]float32, len(raw)/4)
		for i := range pixels {
			pixels[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		answer := make([]byte, 0, len(raw))
		for n := range x.Shape[0] {
			for _, v := range edges(pixels[n*h*w:(n+1)*h*w], h, w, forward) {
				answer = binary.LittleEndian.AppendUint32(answer, math.Float32bits(v))
			}
		}
		y := tensor{Name: "edges", Datatype: "FP32", Shape: x.Shape, Params: &parameters{len(answer)}}
		return object{"outputs": []tensor{y}}, answer
	}
	return object{"error": "edges knows hello, describe and infer, not " + r.Method}, nil
}

// edges is the length of the gradient of a picture; its border is repeated.
func edges(p []float32, h, w int, forward bool) []float32 {
	at := func(r, c int) float32 { return p[min(max(r, 0), h-1)*w+min(max(c, 0), w-1)] }
	back := 1
	if forward {
		back = 0
	}
	out := make([]float32, 0, h*w)
	for r := range h {
		for c := range w {
			dx, dy := at(r, c+1)-at(r, c-back), at(r+1, c)-at(r-back, c)
			out = append(out, float32(math.Sqrt(float64(dx*dx)+float64(dy*dy))))
		}
	}
	return out
}
