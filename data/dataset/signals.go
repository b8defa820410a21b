package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nero/data/sound"
	"nero/data/space"
)

// signalsFormat is recordings.
var signalsFormat = &Format{
	Name: "signals", Doc: "Recordings: WAV files, or arrays.",
	Sniff:    Sniff{File: ends(".wav", ".wave")},
	Options:  tableOptions(WithPattern, WithSplit, WithSound),
	Refuse:   inSameFile("signals"),
	Numbered: true,
	Open:     reads(opener.openSignals),
}

// signalsTable is signals in arrays.
var signalsTable = tableFormat{
	name: "signals", main: []string{"signal", "signals", "x", "audio", "data"}, timed: true,
}

// signalHead is how much of a recording is read to find its chunks.
const signalHead = 1 << 20

// signalEndings are the endings of recordings.
func signalEndings() []string { return []string{".wav", ".wave"} }

// bareEndings are those of files of numbers without a head.
func bareEndings() []string { return []string{".raw", ".pcm"} }

// openSignals opens recordings: arrays, a folder of WAV files, or one such file.
func (o opener) openSignals(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if !array {
		return o.openRecordings(spec)
	}
	if spec.Pattern != "" || spec.Split != "" {
		return nil, fmt.Errorf("%s: pattern and split are for folders, this is a file of arrays", spec.Images)
	}
	d, t, err := o.openTable(spec, signalsTable)
	if err != nil {
		return nil, err
	}
	if err := d.label(o, spec); err != nil {
		return nil, err
	}
	return d, inFileIf(spec.Images, t.signals(d, spec))
}

func inFileIf(name string, err error) error {
	if err == nil {
		return nil
	}
	return inFile(name, err)
}

// signals makes samples of a table into signals as spec.Sound says.
func (t *table) signals(d *values, spec Spec) error {
	s := spec.Sound
	if r := t.rate(); s.Rate > 0 && r > 0 && r != float64(s.Rate) {
		return fmt.Errorf("the array rate says %g Hz, sound.rate %d Hz: resample the signals, or correct sound.rate", r,
			s.Rate)
	}
	adapt := func(f space.Spec) (space.Spec, error) {
		if f.Kind != space.KindSignal {
			return f, nil
		}
		if s.Mono == "right" && f.Shape[0] < 2 {
			return f, errors.New("the signals have one channel, and sound.mono wants the right one: set it to left")
		}
		n, err := s.length(f.Shape[1])
		f.Shape = []int{s.channels(f.Shape[0]), n}
		return f, err
	}
	var err error
	if d.space.IsRecord() {
		for i := range d.space.Fields {
			if d.space.Fields[i], err = adapt(d.space.Fields[i]); err != nil {
				return err
			}
		}
	} else if d.space, err = adapt(d.space); err != nil {
		return err
	}
	inner := d.load
	d.load = func(i int) (space.Value, space.Value, []string, error) {
		v, target, tags, err := inner(i)
		if err != nil {
			return nil, nil, nil, err
		}
		list := []space.Value{v}
		rec, record := v.(*space.Record)
		if record {
			list = rec.Values
		}
		for k, v := range list {
			x, ok := v.(*space.Signal)
			if !ok {
				continue
			}
			rows := make([][]float64, x.C)
			for c := range rows {
				rows[c] = x.Val[c*x.T : (c+1)*x.T]
			}
			n, err := s.length(x.T)
			if err != nil {
				return nil, nil, nil, inFile(t.name, err)
			}
			rate := x.Rate
			if s.Rate > 0 {
				rate = float64(s.Rate)
			}
			list[k] = s.signal(rows, s.Start, n, rate)
		}
		if !record {
			return list[0], target, tags, nil
		}
		return rec, target, tags, nil
	}
	return nil
}

// length is how many numbers are taken of a recording of n.
func (s Sound) length(n int) (int, error) {
	switch {
	case s.Start >= n:
		return 0, fmt.Errorf("has %d numbers a channel, and sound.start is %d: lower it, or leave the recording out", n,
			s.Start)
	case s.Length == 0:
		return n - s.Start, nil
	case s.Length > n-s.Start:
		return 0, fmt.Errorf(
			"has %d numbers a channel, want %d from number %d on (sound.length, sound.start): lower them, or leave "+
				"the recording out", n, s.Length, s.Start)
	}
	return s.Length, nil
}

// channels is how many channels a sample has of a recording with so many. Recordings of left and right may be one of a
// channel.
func (s Sound) channels(n int) int {
	if s.Mono == "keep" {
		return n
	}
	return 1
}

// signal brings channels together and cuts them.
func (s Sound) signal(rows [][]float64, start, n int, rate float64) *space.Signal {
	for c := range rows {
		rows[c] = rows[c][start : start+n]
	}
	switch {
	case s.Mono == "keep" || len(rows) == 1:
	case s.Mono == "left":
		rows = rows[:1]
	case s.Mono == "right":
		rows = rows[1:2]
	default:
		mean := make([]float64, n)
		for c, row := range rows {
			for i, x := range row {
				mean[i] += (x - mean[i]) / float64(c+1)
			}
		}
		rows = [][]float64{mean}
	}
	out := space.NewSignal(len(rows), n, rate)
	for c, row := range rows {
		copy(out.Val[c*n:], row)
	}
	return out
}

// recordings is a folder of WAV files.
type recordings struct {
	o     opener
	list  *listing
	sound Sound
	heads []sound.Format
}

// openRecordings opens a folder of WAV files, or one.
func (o opener) openRecordings(spec Spec) (Dataset, error) {
	if spec.Key != "" || spec.LabelKey != "" && spec.Labels == "" || spec.TargetKey != "" {
		return nil, fmt.Errorf("%s: keys are for npz archives, this is none", spec.Images)
	}
	if len(spec.Fields) > 1 {
		return nil, fmt.Errorf(
			"%s: the samples need the fields %s, and recordings have one: store signals and other fields as arrays "+
				"in an npz file", spec.Images, strings.Join(spec.Fields, ", "))
	}
	d, list, err := o.files(spec, signalEndings(), "recordings")
	if err != nil {
		// Files of bare numbers beside recordings are left out as any others are; where there is nothing else, it is
		// said what to do with them.
		if _, bare, again := o.files(Spec{Images: spec.Images, Pattern: spec.Pattern, Split: spec.Split}, bareEndings(),
			"recordings"); again == nil && o.isFolder(spec.Images) {
			return nil, inFile(bare.name(bare.paths[0]), errBare)
		}
		return nil, err
	}
	r := &recordings{o: o, list: list, sound: spec.Sound}
	d.noun = "recording"
	channels, shortest, longest, channelled := 0, math.MaxInt, 0, true
	for i, p := range list.paths {
		name := list.name(p)
		f, err := r.head(name)
		if err == nil {
			err = r.check(f, i)
		}
		if err != nil {
			return nil, inFile(name, err)
		}
		r.heads = append(r.heads, f)
		n, err := spec.Sound.length(f.Frames)
		if err != nil {
			return nil, inFile(name, err)
		}
		if c := spec.Sound.channels(f.Channels); channels == 0 {
			channels = c
		} else if c != channels {
			channelled = false
		}
		shortest, longest = min(shortest, n), max(longest, n)
	}
	if !channelled {
		return nil, fmt.Errorf(
			"%s: some recordings have other numbers of channels than others, and sound.mono is keep: set it to mean, "+
				"left or right", spec.Images)
	}
	n := shortest
	if longest != shortest {
		n = -1
	}
	name := "signal"
	if len(spec.Fields) == 1 {
		name = spec.Fields[0]
	}
	d.space = space.SpecOf(name, &space.Signal{C: channels, T: n})
	d.load = r.load
	return d, nil
}

// errBare refuses numbers without a head.
var errBare = errors.New(
	"numbers without a head, so that nobody knows their rate and type: convert it to WAV, such as by: sox -t raw -r " +
		"16000 -e signed -b 16 -c 1 IN.raw OUT.wav")

// head reads the head of a file.
func (r *recordings) head(name string) (sound.Format, error) {
	f, err := r.o.fsys.Open(name)
	if err != nil {
		return sound.Format{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return sound.Format{}, err
	}
	b := make([]byte, min(st.Size(), 4096))
	if _, err := io.ReadFull(f, b); err != nil {
		return sound.Format{}, err
	}
	if len(b) == 0 {
		return sound.Format{}, errors.New("is empty (0 bytes), want a WAV file")
	}
	if slices.Contains(bareEndings(), strings.ToLower(path.Ext(filepath.ToSlash(name)))) &&
		!strings.HasPrefix(string(b), "RIFF") {
		return sound.Format{}, errBare
	}
	h, err := sound.ReadHead(b, st.Size())
	if err == nil || int64(len(b)) == st.Size() {
		return h, err
	}
	// Long chunks of remarks may stand before the data.
	more := make([]byte, min(st.Size(), signalHead)-int64(len(b)))
	if _, err := io.ReadFull(f, more); err != nil {
		return h, err
	}
	return sound.ReadHead(append(b, more...), st.Size())
}

// check holds the head of file i against what is wanted of all.
func (r *recordings) check(f sound.Format, i int) error {
	want, who := r.sound.Rate, "sound.rate"
	if want == 0 && i > 0 {
		want, who = r.heads[0].Rate, "the first file, "+r.list.id(r.list.paths[0])+","
	}
	switch {
	case want > 0 && f.Rate != want:
		return fmt.Errorf("has %d numbers a second, %s wants %d: resample it, such as by: sox IN.wav -r %d OUT.wav",
			f.Rate, who, want, want)
	case f.Frames == 0:
		return errors.New("has no numbers: leave it out")
	case r.sound.Mono == "right" && f.Channels < 2:
		return errors.New("has one channel, and sound.mono wants the right one: set it to left")
	case f.Frames > maxValues/f.Channels:
		return fmt.Errorf("has %d numbers in %d channels, more than the %d that one sample may have: split it",
			f.Frames, f.Channels, maxValues)
	}
	return nil
}

// load reads recording i.
func (r *recordings) load(i int) (v, target space.Value, tags []string, err error) {
	name := r.list.name(r.list.paths[i])
	s, err := r.read(name, r.heads[i])
	if err != nil {
		return nil, nil, nil, inFile(name, err)
	}
	return s, nil, r.list.tags(r.list.paths[i]), nil
}

func (r *recordings) read(name string, h sound.Format) (*space.Signal, error) {
	n, err := r.sound.length(h.Frames)
	if err != nil {
		return nil, err
	}
	f, err := r.o.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	frame := int64(h.Channels * h.Bits / 8)
	skip := h.Offset + int64(r.sound.Start)*frame
	if s, ok := f.(io.Seeker); ok {
		if _, err := s.Seek(skip, io.SeekStart); err != nil {
			return nil, err
		}
	} else if _, err := io.CopyN(io.Discard, f, skip); err != nil {
		return nil, err
	}
	b := make([]byte, int64(n)*frame)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, errors.New("the file has become shorter since it was opened")
	}
	rows, err := h.Decode(b, r.sound.Start)
	if err != nil {
		return nil, err
	}
	return r.sound.signal(rows, 0, n, float64(h.Rate)), nil
}
