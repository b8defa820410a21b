package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// CheckLabels says whether every sample of ds has a class that a model with this many classes knows, 0 to classes-1.
// The error names the first sample that has none or one out of range, and how many there are.
func CheckLabels(ds Dataset, classes int) error {
	labels := ds.Labels()
	if labels == nil {
		return errors.New("the data have no labels: give a label file, a name pattern or one folder per class, or " +
			"choose metrics that need none")
	}
	first, bad := -1, 0
	for i, l := range labels {
		if l < 0 || l >= classes {
			if bad == 0 {
				first = i
			}
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	id := ds.IDs()[first]
	if labels[first] < 0 {
		return fmt.Errorf("sample %q has no label (%d of %d samples have none or one out of range): label it or "+
			"leave it out", id, bad, len(labels))
	}
	return fmt.Errorf("sample %q has label %d, but the model has classes 0 to %d (%d of %d samples have no label or "+
		"one out of range): correct the labels or take the model that they belong to",
		id, labels[first], classes-1, bad, len(labels))
}

// intLabels reads an array as one class number per sample; -1 means none.
func intLabels(a *array, n int) ([]int, error) {
	shape := a.shape
	if len(shape) == 2 && shape[1] == 1 {
		shape = shape[:1]
	}
	if len(shape) != 1 {
		return nil, inFile(a.name,
			fmt.Errorf("labels have shape %v, want one class number per sample, (%d); for one-hot rows store their "+
				"argmax", a.shape, n))
	}
	if shape[0] != n {
		return nil, inFile(a.name, fmt.Errorf("holds %d labels, but there are %d images: they do not belong together",
			shape[0], n))
	}
	b, err := a.piece(0, n)
	if err != nil {
		return nil, inFile(a.name, err)
	}
	labels := make([]int, n)
	some := false
	var chunk [256]float64
	size := a.dtype.Size()
	for lo := 0; lo < n; lo += len(chunk) {
		vals := chunk[:min(len(chunk), n-lo)]
		widen(vals, b[lo*size:], 1, a.dtype)
		for k, v := range vals {
			if v != math.Trunc(v) || !(v >= -1 && v <= maxClass) {
				return nil, inFile(a.name,
					fmt.Errorf("label of sample %d is %s, want a class number from 0 to %d, or -1 for none", lo+k,
						strconv.FormatFloat(v, 'f', -1, 64), maxClass))
			}
			labels[lo+k] = int(v)
			some = some || v >= 0
		}
	}
	if !some {
		return nil, nil
	}
	return labels, nil
}

// labelFormat is the array format of a file; "" for another one, which is taken for a table of labels.
func labelFormat(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	var b [6]byte
	n, err := io.ReadFull(f, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", inFile(name, err)
	}
	return sniff(b[:n]), nil
}

// maxTable bounds a table of labels.
const maxTable = 1 << 30

// tableLabels reads a CSV table of file names and labels for the samples ids.
//
// Fields are separated by commas, or by semicolons or tabs if the first line has no comma. A first line with the words
// file and label says where these columns are; without it they are the first two. A name is the sample's ID, or its
// last part where that is unique. Samples that the table does not name, or names without a label, have none.
func tableLabels(fsys fs.FS, name string, ids []string) (labels []int, names, notes []string, err error) {
	words, notes, err := tableWords(fsys, name, ids)
	if err != nil {
		return nil, nil, nil, inFile(name, err)
	}
	labels, names, err = classes(words)
	if err != nil {
		return nil, nil, nil, inFile(name, err)
	}
	return labels, names, notes, nil
}

// tableWords is the label text of each sample, "" for none.
func tableWords(fsys fs.FS, name string, ids []string) (words, notes []string, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if st.IsDir() {
		return nil, nil, errors.New("is a folder, want a table of labels")
	}
	if st.Size() > maxTable {
		return nil, nil, fmt.Errorf("has %d bytes, want a table of labels of at most %d", st.Size(), maxTable)
	}
	br := bufio.NewReaderSize(f, 1<<16)
	if b, _ := br.Peek(3); bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		if _, err := br.Discard(3); err != nil {
			return nil, nil, err
		}
	} else if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, nil, errors.New("is UTF-16 text: save it as UTF-8")
	}
	r := csv.NewReader(br)
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	head, _ := br.Peek(1 << 16) // as much as there is
	if line, _, _ := bytes.Cut(head, []byte("\n")); !bytes.ContainsRune(line, ',') {
		switch {
		case bytes.ContainsRune(line, ';'):
			r.Comma = ';'
		case bytes.ContainsRune(line, '\t'):
			r.Comma, r.TrimLeadingSpace = '\t', false
		}
	}
	index := newNameIndex(ids)
	words = make([]string, len(ids))
	set := make([]int, len(ids)) // line that named the sample
	fileCol, labelCol := 0, 1
	strangers, matched := 0, 0
	stranger := ""
	for row := 0; ; row++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("not a CSV table of files and labels: %w", err)
		}
		if row == 0 {
			if f, l := column(rec, "file"), column(rec, "label"); f >= 0 && l >= 0 {
				fileCol, labelCol = f, l
				continue
			}
		}
		line, _ := r.FieldPos(0)
		if len(rec) <= max(fileCol, labelCol) {
			return nil, nil, fmt.Errorf("line %d has %d columns, want a file and a label", line, len(rec))
		}
		file, word := rec[fileCol], strings.TrimSpace(rec[labelCol])
		i, err := index.find(file)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		if i < 0 {
			if strangers == 0 {
				stranger = fmt.Sprintf("%s in line %d", clip(file), line)
			}
			strangers++
			continue
		}
		if set[i] > 0 && words[i] != word {
			return nil, nil, fmt.Errorf("line %d gives %q the label %q, line %d gave it %q", line, ids[i], word, set[i],
				words[i])
		}
		if set[i] == 0 {
			matched++
		}
		words[i], set[i] = strings.Clone(word), line
	}
	if matched == 0 {
		if strangers > 0 {
			return nil, nil, fmt.Errorf("names none of the %d samples: it has %s where the samples are named like %q",
				len(ids), stranger, ids[0])
		}
		return nil, nil, errors.New("has no rows, want the columns file,label")
	}
	if strangers > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d rows name no sample, first %s", name, strangers, stranger))
	}
	if matched < len(ids) {
		i := slices.Index(set, 0)
		notes = append(notes, fmt.Sprintf("%s: %d samples are not in the table and have no label, first %q", name,
			len(ids)-matched, ids[i]))
	}
	return words, notes, nil
}

// column finds a column by its title.
func column(rec []string, title string) int {
	return slices.IndexFunc(rec, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), title) })
}

// nameIndex finds samples by their ID or by its last part.
type nameIndex struct {
	full map[string]int
	// -2 if several samples share it
	base map[string]int
}

func newNameIndex(ids []string) nameIndex {
	x := nameIndex{full: make(map[string]int, len(ids)), base: make(map[string]int, len(ids))}
	for i, id := range ids {
		x.full[id] = i
		b := path.Base(id)
		if _, ok := x.base[b]; ok {
			x.base[b] = -2
		} else {
			x.base[b] = i
		}
	}
	return x
}

// find is the index of the sample that a table calls name, -1 if there is none.
func (x nameIndex) find(name string) (int, error) {
	name = strings.TrimSpace(name)
	if i, ok := x.full[name]; ok {
		return i, nil
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if i, ok := x.full[name]; ok {
		return i, nil
	}
	i, ok := x.base[name]
	if !ok {
		return -1, nil
	}
	if i < 0 {
		return 0, fmt.Errorf("%s is the name of several samples: write the path below the folder", clip(name))
	}
	return i, nil
}

// classes turns the label word of each sample into a class, -1 for "". If all words are non-negative integers they are
// the class numbers; otherwise the words in byte order are the classes 0, 1, …. names[k] is the word of class k; it is
// nil if the words are numbers.
func classes(words []string) (labels []int, names []string, err error) {
	number := make(map[string]int)
	all := true
	for _, w := range words {
		if w == "" {
			continue
		}
		if _, ok := number[w]; ok {
			continue
		}
		n, ok := classNumber(w)
		all = all && ok
		number[w] = n
	}
	if len(number) == 0 {
		return nil, nil, nil
	}
	if !all {
		if err := belowZero(words); err != nil {
			return nil, nil, err
		}
		for w := range number {
			names = append(names, w)
		}
		slices.Sort(names)
		for k, w := range names {
			number[w] = k
		}
	}
	labels = make([]int, len(words))
	for i, w := range words {
		if w == "" {
			labels[i] = -1
			continue
		}
		k := number[w]
		if k > maxClass {
			return nil, nil, fmt.Errorf("label %s of sample %d is no class number, want at most %d", clip(w), i,
				maxClass)
		}
		labels[i] = k
	}
	return labels, names, nil
}

// belowZero refuses labels that are all whole numbers, some of them below zero: taken for words, they would give every
// number another class than the one that is written.
func belowZero(words []string) error {
	at := -1
	for i, w := range words {
		digits, minus := strings.CutPrefix(w, "-")
		if _, ok := classNumber(digits); w != "" && !ok {
			return nil // words among them
		}
		if minus && at < 0 {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return fmt.Errorf("label %s of sample %d is below zero, want class numbers from 0: leave the field empty where a "+
		"sample has no label", clip(words[at]), at)
}

// classNumber reads a non-negative integer; 3.0, as spreadsheets write it, is 3. Numbers too large for a class come
// back as maxClass+1.
func classNumber(w string) (int, bool) {
	whole, frac, _ := strings.Cut(w, ".")
	if whole == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(frac, "0") != "" ||
		strings.HasSuffix(w, ".") {
		return 0, false
	}
	n, err := strconv.Atoi(whole)
	if err != nil || n > maxClass {
		return maxClass + 1, true
	}
	return n, true
}
