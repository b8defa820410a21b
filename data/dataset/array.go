package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"nero/data/tensor"

	"github.com/klauspost/compress/gzip"
)

// Limits on what a file may make this package hold in memory. They are compared with what a header claims before
// anything is allocated.
const (
	keepBytes  = 256 << 20 // plain arrays above this stay on disk and are read sample by sample
	maxBytes   = 1 << 30   // arrays that cannot be read piecewise (compressed, Fortran order) may be this large
	maxValues  = 1 << 26   // numbers of one sample: 512 MiB as float64
	maxSamples = 1 << 27   // samples of a data set: 1 GiB of labels
	maxClass   = 1 << 20   // largest class number
	// deflate cannot shrink data by more than 1032:1 (zlib's technical notes), so a compressed file bounds its content.
	maxDeflate = 1032
)

// disk is the file system of the machine: unlike [os.DirFS] it takes absolute paths and "..".
type disk struct{}

func (disk) Open(name string) (fs.File, error)          { return os.Open(name) }
func (disk) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// opener reads arrays from one file system within limits.
type opener struct {
	fsys      fs.FS
	keep, max int64
	// what files hold was looked at by somebody, see [Spec].Trusted
	trusted bool
}

func newOpener(fsys fs.FS) opener { return opener{fsys: fsys, keep: keepBytes, max: maxBytes} }

// header is what the head of an array file claims.
type header struct {
	dtype tensor.DType
	shape []int
	// big-endian
	big bool
	// first axis varies fastest
	fortran bool
	bytes   int64
	count   int
}

// claim fills in count and bytes, refusing products that no file can hold.
func (h *header) claim() error {
	n, err := tensor.CheckedCount(h.shape, math.MaxInt/16)
	if err != nil {
		return fmt.Errorf("the header lies about the size: %w", err)
	}
	h.count, h.bytes = n, int64(n)*int64(h.dtype.Size())
	return nil
}

// array is a numeric array in a file: in memory, or read piece by piece.
type array struct {
	// for messages
	name string
	header
	// little-endian; nil if the array stays on disk or packed
	data []byte
	// what is unpacked when it is asked for, else nil
	rest *later
	fsys fs.FS
	file string
	// of the first element in file
	off int64
}

// magics of the files that hold arrays.
var (
	magicGzip = []byte{0x1f, 0x8b}
	magicNpy  = []byte("\x93NUMPY")
	magicZip  = []byte("PK\x03\x04")
	magicZip0 = []byte("PK\x05\x06") // an archive without entries
)

// startsIDX tells the first bytes of IDX; a gzip file is taken for IDX or npy, which are read alike.
func startsIDX(b []byte) bool { return bytes.HasPrefix(b, magicGzip) || isIDX(b) }

func startsNpy(b []byte) bool { return bytes.HasPrefix(b, magicNpy) }

func startsZip(b []byte) bool { return bytes.HasPrefix(b, magicZip) || bytes.HasPrefix(b, magicZip0) }

// isIDX tells an IDX head: two zero bytes, a known type, a rank.
func isIDX(b []byte) bool {
	return len(b) >= 4 && b[0] == 0 && b[1] == 0 && idxType(b[2]) != tensor.Undefined && b[3] > 0
}

// open reads the array file name: IDX or npy, plain or gzip.
func (o opener) open(name string) (*array, error) {
	a, err := o.openArray(name)
	if err != nil {
		return nil, inFile(name, err)
	}
	return a, nil
}

func (o opener) openArray(name string) (*array, error) {
	f, err := o.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, errors.New("is a folder, want an IDX or npy file")
	}
	if st.Size() == 0 {
		return nil, errors.New("is empty (0 bytes), want an IDX or npy file")
	}
	br := bufio.NewReaderSize(f, 1<<16)
	head, _ := br.Peek(2) // a shorter file fails below with a better message
	a := &array{name: name}
	if bytes.Equal(head, magicGzip) {
		var from io.Reader = br
		kept := o.trusted && st.Size() <= packedKept
		if kept {
			b := make([]byte, 0, st.Size()+bytes.MinRead)
			whole := bytes.NewBuffer(b)
			if _, err := whole.ReadFrom(br); err != nil {
				return nil, err
			}
			from = whole
		}
		gz, err := gzip.NewReader(from)
		if err != nil {
			return nil, fmt.Errorf("damaged gzip: %w", err)
		}
		cr := &countReader{r: gz}
		if a.header, err = readHeader(cr); err != nil {
			return nil, packed(err)
		}
		if kept && !a.fortran && (!a.big || a.dtype.Size() == 1) {
			a.big = false
			a.rest, err = o.later(gz, a.header, bounded(st.Size())-cr.n)
			return a, err
		}
		if a.data, err = o.slurp(cr, a.header, bounded(st.Size())-cr.n, true); err != nil {
			return nil, packed(err)
		}
		return a.settle(), nil
	}
	cr := &countReader{r: br}
	if a.header, err = readHeader(cr); err != nil {
		return nil, err
	}
	if rest := st.Size() - cr.n; rest != a.bytes {
		return nil, sizeError(a.header, rest)
	}
	_, seekable := f.(io.ReaderAt)
	if seekable && !a.fortran && a.bytes > o.keep {
		a.fsys, a.file, a.off = o.fsys, name, cr.n
		return a, nil
	}
	if a.data, err = o.slurp(cr, a.header, a.bytes, false); err != nil {
		return nil, err
	}
	return a.settle(), nil
}

// bounded is the most that size compressed bytes can hold.
func bounded(size int64) int64 {
	if size > math.MaxInt64/maxDeflate-1 {
		return math.MaxInt64
	}
	return (size + 1) * maxDeflate
}

// settle brings elements in memory to little-endian order.
func (a *array) settle() *array {
	if a.big && a.dtype.Size() > 1 {
		swapBytes(a.data, a.dtype.Size())
	}
	a.big = false
	return a
}

// believed is how many bytes must have come for a claim to be taken as true: then what it needs is allocated at once,
// where doubling would need twice as much.
const believed = 64 << 20

// slurp reads exactly the elements that h claims and nothing more. Memory grows with what is there, not with the claim.
// limit is the most that the source can hold.
func (o opener) slurp(r io.Reader, h header, limit int64, compressed bool) ([]byte, error) {
	if err := o.fits(h, limit, compressed); err != nil {
		return nil, err
	}
	want := int(h.bytes)
	buf := make([]byte, 0, min(want, 16<<20))
	for len(buf) < want {
		if len(buf) == cap(buf) {
			room := min(want, 2*cap(buf))
			if cap(buf) >= believed {
				room = want
			}
			grown := make([]byte, len(buf), room)
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) == want {
			break
		}
		if errors.Is(err, io.EOF) {
			return nil, sizeError(h, int64(len(buf)))
		}
		if err != nil {
			return nil, fmt.Errorf("after %d of %d bytes: %w", len(buf), want, err)
		}
	}
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); {
	case err == nil:
		return nil, fmt.Errorf(
			"the header claims %s%v, %d bytes, but the file holds more: the header is wrong or the file has foreign "+
				"bytes at its end", h.dtype, h.shape, h.bytes)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("after all %d bytes: %w", want, err)
	}
	return buf, nil
}

// fits refuses claims of more than the source can hold, or memory.
func (o opener) fits(h header, limit int64, compressed bool) error {
	if h.bytes > limit {
		return sizeError(h, limit)
	}
	if h.bytes > o.max {
		remedy := "store it in C order (numpy.ascontiguousarray), which is read sample by sample"
		if compressed {
			remedy = "store it uncompressed as .npy, which is read sample by sample"
		}
		return fmt.Errorf("%s%v has %d bytes, more than the %d that fit in memory: %s", h.dtype, h.shape, h.bytes,
			o.max, remedy)
	}
	return nil
}

// sizeError says that header and file disagree.
func sizeError(h header, have int64) error {
	what := "is cut short or its header is wrong: fetch or write it again"
	if have > h.bytes {
		what = "has foreign bytes at its end or its header is wrong"
	}
	return fmt.Errorf("the header claims %s%v, %d bytes, but the file holds %d: it %s", h.dtype, h.shape, h.bytes, have,
		what)
}

// packed explains the error of a compressed stream.
func packed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the compressed data end early, the file is cut short: fetch it again: %w", err)
	}
	return err
}

// inFile names the file of an error, once.
func inFile(name string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == name {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// readHeader reads the head of an IDX or npy file.
func readHeader(r io.Reader) (header, error) {
	var b [6]byte
	if n, err := io.ReadFull(r, b[:4]); err != nil {
		return header{}, shortHead(n, err)
	}
	if isIDX(b[:4]) {
		return readIDXHeader(r, b[2], int(b[3]))
	}
	if bytes.HasPrefix(magicNpy, b[:4]) {
		if n, err := io.ReadFull(r, b[4:]); err != nil {
			return header{}, shortHead(4+n, err)
		}
		if bytes.Equal(b[:], magicNpy) {
			return readNpyHeader(r)
		}
	}
	return header{}, fmt.Errorf(
		"starts with bytes % x: neither IDX (00 00, type 08 to 0e, rank) nor npy (93 4e 55 4d 50 59)", b[:4])
}

func shortHead(n int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the header ends after %d bytes: %w", n, io.ErrUnexpectedEOF)
	}
	return err
}

// piece is the bytes of elements [lo, lo+n), little-endian. The result may share the array's memory.
func (a *array) piece(lo, n int) ([]byte, error) {
	size := a.dtype.Size()
	if a.rest != nil {
		return a.rest.piece(lo*size, n*size)
	}
	if a.data != nil || a.bytes == 0 {
		return a.data[lo*size : (lo+n)*size], nil
	}
	// Opened for every piece: a data set has no Close, and a file that is opened anew is safe for concurrent use.
	f, err := a.fsys.Open(a.file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, errors.New("cannot be read at an offset any more")
	}
	b := make([]byte, n*size)
	if _, err := at.ReadAt(b, a.off+int64(lo)*int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file has become shorter since it was opened")
		}
		return nil, err
	}
	if a.big {
		swapBytes(b, size)
	}
	return b, nil
}

// swapBytes reverses the bytes of every element in place.
func swapBytes(b []byte, size int) {
	for i := 0; i+size <= len(b); i += size {
		for j, k := i, i+size-1; j < k; j, k = j+1, k-1 {
			b[j], b[k] = b[k], b[j]
		}
	}
}

// widen converts every step-th little-endian element of b to float64, len(dst) of them. 64-bit integers may round.
func widen(dst []float64, b []byte, step int, d tensor.DType) {
	le := binary.LittleEndian
	step *= d.Size()
	switch d {
	case tensor.Uint8, tensor.Bool:
		if step == 1 {
			for i, v := range b[:len(dst)] {
				dst[i] = float64(v)
			}
			return
		}
		for i := range dst {
			dst[i] = float64(b[i*step])
		}
	case tensor.Int8:
		for i := range dst {
			dst[i] = float64(int8(b[i*step]))
		}
	case tensor.Uint16:
		for i := range dst {
			dst[i] = float64(le.Uint16(b[i*step:]))
		}
	case tensor.Int16:
		for i := range dst {
			dst[i] = float64(int16(le.Uint16(b[i*step:])))
		}
	case tensor.Uint32:
		for i := range dst {
			dst[i] = float64(le.Uint32(b[i*step:]))
		}
	case tensor.Int32:
		for i := range dst {
			dst[i] = float64(int32(le.Uint32(b[i*step:])))
		}
	case tensor.Uint64:
		for i := range dst {
			dst[i] = float64(le.Uint64(b[i*step:]))
		}
	case tensor.Int64:
		for i := range dst {
			dst[i] = float64(int64(le.Uint64(b[i*step:])))
		}
	case tensor.Float16:
		for i := range dst {
			dst[i] = tensor.Half(le.Uint16(b[i*step:]))
		}
	case tensor.BFloat16:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(uint32(le.Uint16(b[i*step:])) << 16))
		}
	case tensor.Float32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(le.Uint32(b[i*step:])))
		}
	case tensor.Float64:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(b[i*step:]))
		}
	case tensor.Undefined, tensor.String:
		panic("dataset: no element type of numbers")
	}
}

// isFloat tells whether elements of type d can be NaN or infinite.
func isFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}

// countReader counts what has been read.
type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
