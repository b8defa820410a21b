package selftest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"nero/internal/disk"
	"nero/model/engine"
	"nero/model/engine/library"
)

// revision counts the changes to the examples: a pass of an older set does not count.
const revision = 3

// Fingerprinter is an engine that can say which bytes it consists of, such as the size and time of its library.
type Fingerprinter interface{ Fingerprint() string }

// record is what a pass is remembered by.
type record struct {
	Revision    int    `json:"revision"`
	Engine      string `json:"engine"`
	Version     string `json:"version"`
	Path        string `json:"path,omitempty"`
	Fingerprint string `json:"fingerprint"`
	Processor   string `json:"processor"`
	// with every option, also that which names the device
	Provider string `json:"provider,omitempty"`
	// of the library that belong to the providers
	Parts string `json:"parts,omitempty"`
}

// Verify runs the self-test unless this engine, in this version and with these bytes, has passed it on this processor,
// or, on execution providers, with the same options and parts and on the same devices, which processor then tells too.
// A pass is remembered in the folder dir; where that cannot be read or written (or dir is empty) the test runs every
// time. A failure is never remembered. It reports whether the test ran.
func Verify(ctx context.Context, e engine.Engine, dir, processor string) (ran bool, err error) {
	i := e.Info()
	place := engine.Place(e)
	r := record{
		Revision: revision, Engine: i.Name, Version: i.Version, Path: i.Path, Processor: processor,
		Provider: place.Whole(),
	}
	if words := place.Parts(); len(words) > 0 && i.Path != "" {
		r.Parts = library.Beside(i.Path, words)
	}
	if f, ok := e.(Fingerprinter); ok {
		r.Fingerprint = f.Fingerprint()
	}
	want, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(want)
	file := filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")
	if dir != "" {
		if have, err := os.ReadFile(file); err == nil && string(have) == string(want) {
			return false, nil
		}
	}
	if err := Run(ctx, e); err != nil {
		return true, err
	}
	if dir != "" {
		remember(file, want)
	}
	return true, nil
}

// remember writes the record in one step. If it fails, the test runs again next time.
func remember(file string, b []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
		_ = disk.Write(disk.OS{}, file, disk.Bytes(b)) // nothing else is to be done
	}
}
