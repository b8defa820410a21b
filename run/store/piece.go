package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nero/internal/disk"
	"nero/run/job"
)

// summaryName is the file that sums a complete run up.
const summaryName = "summary.json"

// Piece is a finished shard as two texts, its rows and its marker: for whoever keeps a run elsewhere than in a folder.
type Piece struct {
	job.Shard
	// rows with an error
	Failed int
	// Size is how many bytes the rows are, and SHA256 their digest.
	Size   int64
	SHA256 string
	// Marker is the text of the marker, which says all of this.
	Marker []byte
}

// ReadPiece reads the marker of a shard and holds it against the job with that hash. The error wraps [ErrCorrupt] and
// [ErrIncompatible] as those of [Open].
func ReadPiece(j *job.Job, hash string, s job.Shard, marker []byte) (*Piece, error) {
	m, _, err := parseMarker(j, hash, s, marker)
	if err != nil {
		return nil, damaged(markerName(s.Index), err)
	}
	return &Piece{Shard: s, Failed: m.Failed, Size: m.Size, SHA256: m.SHA256, Marker: marker}, nil
}

// Holds reports whether rows are those of the piece.
func (p *Piece) Holds(rows []byte) bool {
	return int64(len(rows)) == p.Size && digest(rows) == p.SHA256
}

// ShardFolder is the folder, in that of a run, in which the shards of the job with that hash are.
func ShardFolder(hash string) string { return "shards-" + hash[:12] }

// MarkerName is the name of a shard's marker in that folder.
func MarkerName(shard int) string { return markerName(shard) }

// Beside lists the files in a run's folder that are made before the first shard: its job and what belongs to it, the
// job last, because whoever finds it finds all. What is made of the shards is left out, and what says nothing of the
// run.
func Beside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var out []string
	there := false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == jobName:
			there = true
		case e.Type().IsRegular() && Early(name):
			out = append(out, name)
		}
	}
	if !there {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, jobName), fs.ErrNotExist)
	}
	return append(out, jobName), nil
}

// Early reports whether the name, in the folder of a run, is that of a file which is made before the first shard.
func Early(name string) bool {
	switch name {
	case lockName, manifestName, summaryName, slicesName, remarksName:
		return false
	}
	return name != "" && name == filepath.Base(name) && filepath.IsLocal(name) && !disk.Leftover(name) &&
		(name == planName || !strings.HasPrefix(name, "."))
}

// Piece reads a finished shard.
func (r *Run) Piece(shard int) (*Piece, []byte, error) {
	if _, err := r.verify(shard); err != nil {
		return nil, nil, err
	}
	text, err := readSmall(filepath.Join(r.shardDir(), markerName(shard)))
	if err != nil {
		return nil, nil, err
	}
	p, err := ReadPiece(r.job, r.hash, r.shards[shard], text)
	if err != nil {
		return nil, nil, err
	}
	rows, err := os.ReadFile(filepath.Join(r.shardDir(), rowsName(shard)))
	return p, rows, err
}

// Adopt keeps a shard that was kept elsewhere. Rows that are not what the marker says are refused.
func (r *Run) Adopt(p *Piece, rows []byte) error {
	if r.lock == nil {
		return errors.New("store: the run is open for reading")
	}
	name := filepath.Join(r.shardDir(), rowsName(p.Index))
	if !p.Holds(rows) {
		return fmt.Errorf("%s: %w: %d bytes with SHA-256 %.12s, and its marker says %d with %.12s", name, ErrCorrupt,
			len(rows), digest(rows), p.Size, p.SHA256)
	}
	if old, err := r.verify(p.Index); err == nil {
		if old.SHA256 != p.SHA256 {
			return fmt.Errorf("%s: shard %d was computed twice with different results (%.12s and %.12s): the engine "+
				"is not deterministic", r.dir, p.Index, old.SHA256, p.SHA256)
		}
		return nil
	}
	if err := r.incomplete(); err != nil {
		return err
	}
	if err := replace(r.fs, name, rows); err != nil {
		return err
	}
	return replace(r.fs, filepath.Join(r.shardDir(), markerName(p.Index)), p.Marker)
}

// Release takes the files of a shard away that is kept elsewhere, to make room.
func (r *Run) Release(shard int) error {
	r.mu.Lock()
	delete(r.verified, shard)
	r.mu.Unlock()
	return errors.Join(os.Remove(filepath.Join(r.shardDir(), markerName(shard))),
		os.Remove(filepath.Join(r.shardDir(), rowsName(shard))))
}
