package dataset

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText bounds one string of an array.
const maxText = 1 << 16

// texts reads an array of strings, numpy's U or S, of an archive: names of samples or classes.
func (o opener) texts(z *archive, key string) ([]string, error) {
	list, err := o.readTexts(z, key)
	if err != nil {
		return nil, fmt.Errorf("%s: array %q: %w", z.name, key, err)
	}
	return list, nil
}

func (o opener) readTexts(z *archive, key string) ([]string, error) {
	e := z.entries[key]
	if e.Flags&1 != 0 {
		return nil, errors.New("is encrypted")
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	cr := &countReader{r: r}
	descr, h, err := readTextHeader(cr)
	if err != nil {
		return nil, packed(err)
	}
	if rest := int64(e.UncompressedSize64) - cr.n; rest != h.bytes {
		return nil, fmt.Errorf(
			"the header claims %s%v, %d bytes, but the file holds %d: it is cut short or its header is wrong: fetch "+
				"or write it again", descr, h.shape, h.bytes, rest)
	}
	b, err := o.slurp(cr, h, bounded(int64(e.CompressedSize64))-cr.n, true)
	if err != nil {
		return nil, packed(err)
	}
	each := int(h.bytes) / h.count
	list := make([]string, h.count)
	for i := range list {
		list[i] = decodeText(b[i*each:(i+1)*each], descr, h.big)
	}
	return list, nil
}

// readTextHeader reads the head of an npy file of strings with one axis.
func readTextHeader(r io.Reader) (descr string, h header, err error) {
	var magic [6]byte
	if n, err := io.ReadFull(r, magic[:]); err != nil {
		return "", h, shortHead(n, err)
	}
	if string(magic[:]) != string(magicNpy) {
		return "", h, fmt.Errorf("starts with bytes % x: not npy (93 4e 55 4d 50 59)", magic)
	}
	text, err := npyHeaderText(r)
	if err != nil {
		return "", h, err
	}
	// The numbers' parser does the work: the string type is replaced by one that it knows.
	at := strings.Index(text, "descr")
	if at < 0 {
		return "", h, errors.New(`no "descr" in the npy header`)
	}
	p := scanner{s: text, i: at + len("descr")}
	if q := p.peek(); q == '\'' || q == '"' {
		p.i++
	}
	if err := p.expect(':'); err != nil {
		return "", h, err
	}
	p.peek()
	from := p.i
	if descr, err = p.quoted(); err != nil {
		return "", h, err
	}
	kind := strings.TrimLeft(descr, "<>|=")
	width := 1
	switch {
	case len(kind) < 2 || kind[0] != 'U' && kind[0] != 'S' || len(descr)-len(kind) > 1:
		return "", h, fmt.Errorf(
			"element type %s is no text: names are an array of strings, numpy.array([...], dtype=str)", clip(descr))
	case kind[0] == 'U':
		width = 4
	}
	n, err := strconv.Atoi(kind[1:])
	if err != nil || n < 0 || n > maxText {
		return "", h, fmt.Errorf("element type %s, want strings of at most %d characters", clip(descr), maxText)
	}
	if h, err = parseNpy(text[:from] + "'|u1'" + text[p.i:]); err != nil {
		return "", h, fmt.Errorf("npy header %s: %w", clip(strings.TrimSpace(text)), err)
	}
	if len(h.shape) != 1 || h.shape[0] == 0 || h.shape[0] > maxSamples {
		return "", h, fmt.Errorf("shape %v, want one axis of names", h.shape)
	}
	h.big = strings.HasPrefix(descr, ">")
	h.count = h.shape[0]
	h.bytes = int64(h.count) * int64(n) * int64(width)
	if h.bytes == 0 {
		return "", h, errors.New("the names have no characters")
	}
	return descr, h, nil
}

// decodeText is one element: zeros at its end do not count.
func decodeText(b []byte, descr string, big bool) string {
	if !strings.Contains(descr, "U") {
		return strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "�")
	}
	var s strings.Builder
	for i := 0; i+4 <= len(b); i += 4 {
		c := uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
		if big {
			c = uint32(b[i+3]) | uint32(b[i+2])<<8 | uint32(b[i+1])<<16 | uint32(b[i])<<24
		}
		if c > utf8.MaxRune {
			c = utf8.RuneError
		}
		s.WriteRune(rune(c))
	}
	return strings.TrimRight(s.String(), "\x00")
}
