package dataset

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// A photo that changes after its digest was taken is told when it is read, and by its name; the others are read. Of
// photos opening reads no more than the heads, and what it reads whole is not held.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	photo := func(name string, grey uint8) {
		t.Helper()
		m := image.NewGray(image.Rect(0, 0, 4, 4))
		m.SetGray(1, 2, color.Gray{Y: grey})
		var b bytes.Buffer
		if err := errors.Join(png.Encode(&b, m), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	photo("a.png", 1)
	photo("b.png", 2)
	labels := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(labels, []byte("file,label\na.png,0\nb.png,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	fsys := new(Held)
	d, err := OpenFS(fsys, Spec{Images: dir, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	names := d.Files()
	digests := make([]string, len(names))
	for i, n := range names {
		if digests[i], err = Digest(n); err != nil {
			t.Fatal(err)
		}
	}
	for i, held := range fsys.Hold(names, digests) {
		if held != IsImage(names[i]) {
			t.Errorf("%s is held: %v", names[i], held)
		}
	}
	photo("b.png", 3)
	if _, err := d.Sample(0); err != nil {
		t.Error(err)
	}
	for range 2 {
		_, err = d.Sample(1)
		c, ok := errors.AsType[*ChangedError](err)
		if !ok || c.Path != filepath.Join(dir, "b.png") || c.Want != digests[1] || c.Got == c.Want {
			t.Errorf("of the changed photo: %v", err)
		}
	}
}
