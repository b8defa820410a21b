// Command render writes rendered particle-image pairs and their true displacement fields to a folder, for training and
// for other tools: one npz file, or PNG pairs with Middlebury .flo files.
//
//	go run ./studies/flow/render -o DIR -n 600 -seed 1
package main

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"nero/data/dataset"
	"nero/data/particle"
	"nero/data/space"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "render:", err)
		}
		os.Exit(2)
	}
}

// run does what the arguments ask.
func run(args []string, stderr io.Writer) error {
	d := particle.Default(600, 1)
	fl := flag.NewFlagSet("render", flag.ContinueOnError)
	fl.SetOutput(stderr)
	dir := fl.String("o", "", "folder to write to; made if it is not there")
	format := fl.String("format", "npz",
		"npz: one file pairs.npz with frames (N,2,H,W) uint8, flow (N,2,H,W) float32, u then v, in px, "+
			"and kind (N) uint8, the position of the kind of flow in -kinds; png: ID_1.png, ID_2.png and ID.flo of "+
			"every pair")
	kinds := fl.String("kinds", join(particle.Kinds()), "kinds of flow, taken in turn")
	fl.IntVar(&d.N, "n", d.N, "number of pairs")
	fl.Uint64Var(&d.Seed, "seed", d.Seed, "seed: the same makes the same pairs")
	size := fl.Int("size", d.Width, "side of the pictures, px")
	fl.Float64Var(&d.Scene.Size, "scale", 0, "length to which flows are scaled, px; 0 for the side of the pictures")
	fl.Float64Var(&d.Scene.Peak, "peak", d.Scene.Peak, "greatest displacement, px a pair")
	fl.Float64Var(&d.Scene.Heading, "heading", d.Scene.Heading,
		"direction of the mean flow, degrees counter-clockwise from the right")
	fl.Float64Var(&d.Scene.Spread, "spread", d.Scene.Spread, "standard deviation of the direction, degrees")
	fl.Float64Var(&d.Scene.Mean, "mean", d.Scene.Mean,
		"share of the mean flow in the displacement of turbulence, eddies and vortices")
	fl.Float64Var(&d.Optics.Density, "density", d.Optics.Density, "particles a pixel")
	fl.Float64Var(&d.Optics.Diameter, "diameter", d.Optics.Diameter, "mean diameter of a spot, px")
	fl.Float64Var(&d.Optics.Spread, "diameter-spread", d.Optics.Spread, "standard deviation of the diameter, px")
	fl.Float64Var(&d.Optics.Brightness, "brightness", d.Optics.Brightness,
		"grey level of a particle in the middle of the sheet")
	fl.Float64Var(&d.Optics.Background, "background", d.Optics.Background, "grey level without particles")
	fl.Float64Var(&d.Optics.Noise, "noise", d.Optics.Noise, "standard deviation of the noise, grey levels")
	fl.Float64Var(&d.Optics.Loss, "loss", d.Optics.Loss,
		"share of particles that leave the light sheet between the frames")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 {
		return fmt.Errorf("argument %q: expected options alone: see -help", fl.Arg(0))
	}
	if *dir == "" {
		return errors.New("no folder to write to: name one with -o DIR")
	}
	d.Height, d.Width = *size, *size
	for k := range strings.SplitSeq(*kinds, ",") {
		kind, err := particle.ParseKind(strings.TrimSpace(k))
		if err != nil {
			return err
		}
		d.Kinds = append(d.Kinds, kind)
	}
	set, err := particle.New(d)
	if err != nil {
		return err
	}
	if *format != "npz" && *format != "png" {
		return fmt.Errorf("format %q: expected npz or png", *format)
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		return err
	}
	if *format == "png" {
		return writePNG(*dir, set)
	}
	return create(filepath.Join(*dir, "pairs.npz"), func(w io.Writer) error { return writeNPZ(w, set) })
}

func join(kinds []particle.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ",")
}

// create writes a file, and says so if it could not be written to its end.
func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(b), b.Flush(), f.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// grey is a frame as bytes.
func grey(m *space.Image) []byte {
	out := make([]byte, len(m.Pix))
	for i, v := range m.Pix {
		out[i] = byte(v)
	}
	return out
}

// pair renders pair i.
func pair(set *particle.Set, i int) (id string, frames [2][]byte, f *space.Field, err error) {
	s, err := set.Sample(i)
	if err != nil {
		return "", frames, nil, err
	}
	v, ok := s.Value.(*space.Frames)
	f, ok2 := s.Target.(*space.Field)
	if !ok || !ok2 || len(v.Images) != 2 {
		return "", frames, nil, fmt.Errorf("pair %s: not two frames with a field", s.ID)
	}
	return s.ID, [2][]byte{grey(v.Images[0]), grey(v.Images[1])}, f, nil
}

// writeNPZ writes all pairs as one archive of arrays, not compressed: noise does not shrink.
func writeNPZ(w io.Writer, set *particle.Set) error {
	n := set.Len()
	_, _, rows, cols, _ := set.Info().Space.Pictures()
	z := zip.NewWriter(w)
	entry := func(name, dtype, shape string) (io.Writer, error) {
		e, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, err
		}
		// Version 1.0 of numpy's format: the header ends with a newline and fills a multiple of 64 bytes.
		h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
		h += strings.Repeat(" ", 63-(10+len(h))%64) + "\n"
		b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(h)))
		_, err = e.Write(append(b, h...))
		return e, err
	}
	e, err := entry("flow", "<f4", fmt.Sprintf("(%d, 2, %d, %d)", n, rows, cols))
	if err != nil {
		return err
	}
	pics := make([]byte, 0, n*2*rows*cols)
	buf := make([]byte, 0, 8*rows*cols)
	for i := range n {
		_, frames, f, err := pair(set, i)
		if err != nil {
			return err
		}
		pics = append(append(pics, frames[0]...), frames[1]...)
		buf = buf[:0]
		for _, v := range f.Val {
			if buf, err = binary.Append(buf, binary.LittleEndian, float32(v)); err != nil {
				return err
			}
		}
		if _, err := e.Write(buf); err != nil {
			return err
		}
	}
	if e, err = entry("frames", "|u1", fmt.Sprintf("(%d, 2, %d, %d)", n, rows, cols)); err != nil {
		return err
	}
	if _, err := e.Write(pics); err != nil {
		return err
	}
	if e, err = entry("kind", "|u1", fmt.Sprintf("(%d,)", n)); err != nil {
		return err
	}
	labels := make([]byte, n)
	for i, l := range set.Labels() {
		labels[i] = byte(l)
	}
	if _, err := e.Write(labels); err != nil {
		return err
	}
	return z.Close()
}

// writePNG writes two pictures and a .flo file of every pair.
func writePNG(dir string, set *particle.Set) error {
	_, _, rows, cols, _ := set.Info().Space.Pictures()
	for i := range set.Len() {
		id, frames, f, err := pair(set, i)
		if err != nil {
			return err
		}
		for k, pix := range frames {
			m := &image.Gray{Pix: pix, Stride: cols, Rect: image.Rect(0, 0, cols, rows)}
			err := create(filepath.Join(dir, fmt.Sprintf("%s_%d.png", id, k+1)),
				func(w io.Writer) error { return png.Encode(w, m) })
			if err != nil {
				return err
			}
		}
		err = create(filepath.Join(dir, id+".flo"), func(w io.Writer) error { return dataset.WriteFlo(w, f) })
		if err != nil {
			return err
		}
	}
	return nil
}
