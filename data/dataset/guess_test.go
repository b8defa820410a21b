package dataset

import (
	"os"
	"testing"
	"testing/fstest"
)

// TestGuess holds the formats of paths that say what they are, and leaves open those that do not.
func TestGuess(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	fsys := fstest.MapFS{
		"chair.off": text("OFF\n"), "water.sdf": text("water\n"), "speech.wav": text("RIFF....WAVE"),
		"all.jsonl": text("{}\n"),
		"water.xyz": text("3\nwater\nO 0 0 0\n"), "bare.xyz": text("3\n\nO 0 0 0\n"),
		"points.xyz": text("0 0 0\n1 2 3\n"), "counted.xyz": text("2\n0 0 0\n1 2 3\n"),
		"shapes/a/1.off": text("OFF\n"), "shapes/b/2.PLY": text("ply\n"), "shapes/readme.txt": text("words\n"),
		"speech/a.wav":     text("RIFF....WAVE"),
		"photos/a.png":     text("\x89PNG"),
		"both/a.off":       text("OFF\n"),
		"both/texture.jpg": text("\xff\xd8"),
		"mixed/a.off":      text("OFF\n"),
		"mixed/b.wav":      text("RIFF....WAVE"),
		"hidden/.a.wav":    text("RIFF....WAVE"),
		"hidden/b.off":     text("OFF\n"),
		"texts/points.csv": text("1,2,3\n"),
		"scan.nii":         text("\x5c\x01\x00\x00"), "scan.nii.gz": text("\x1f\x8b"),
		"scans/a.nii.gz": text("\x1f\x8b"), "scans/labels.csv": text("a.nii.gz,1\n"),
	}
	for name, want := range map[string]string{
		"chair.off": "clouds", "water.sdf": "molecules", "speech.wav": "signals", "all.jsonl": "graphs",
		"water.xyz": "molecules", "bare.xyz": "molecules", "points.xyz": "clouds", "counted.xyz": "clouds",
		"shapes": "clouds", "speech": "signals", "photos": "folder", "both": "folder", "mixed": "folder",
		"hidden": "clouds", "texts": "folder",
		"scan.nii": "volumes", "scan.nii.gz": "volumes", "scans": "volumes",
	} {
		if got, err := Builtin().guess(fsys, name, ""); err != nil || got.Name != want {
			t.Errorf("%s: %v, %v, want %q", name, got, err, want)
		}
	}
	if got, err := Builtin().guess(fsys, "texts/points.csv", ""); err == nil {
		t.Errorf("a file of numbers is taken for %s", got.Name)
	}
	if got := Builtin().ofFolder(os.DirFS(t.TempDir()), "absent"); got != folderFormat {
		t.Errorf("a folder that is not there is taken for %s", got.Name)
	}
}
