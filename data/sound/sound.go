// Package sound reads recordings in WAV files.
package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"nero/data/space"
)

// Clip is a recording.
type Clip struct {
	// numbers per second of each channel
	Rate int
	// of a number in the file
	Bits int
	// of equal length; whole numbers are scaled to [-1, 1), so that full scale is 1
	Channels [][]float64
}

// Format is what the head of a WAV file says.
type Format struct {
	// numbers per second of each channel
	Rate     int
	Channels int
	// 8, 16, 24 or 32, of floats 32 or 64
	Bits int
	// whether the numbers are floating-point
	Float bool
	// numbers of each channel
	Frames int
	Offset int64
}

// ids of chunks, and of encodings.
const (
	pcm        = 1
	float      = 3
	extensible = 0xFFFE
	maxChannel = 1024
	maxRate    = 1 << 31
)

// guid is the end of the identifiers of encodings in extensible files; the first two bytes are the encoding.
const guid = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// ReadHead reads the head of a RIFF WAVE file, of which data is the beginning and size the length of the whole: PCM of
// 8 (unsigned), 16, 24 and 32 bits and floats of 32 and 64, also as extensible format. Compressed encodings, sizes that
// the file does not have and numbers of a rate of 0 are refused.
func ReadHead(data []byte, size int64) (Format, error) {
	var f Format
	le := binary.LittleEndian
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		switch {
		case len(data) >= 4 && string(data[:4]) == "RIFX":
			return f, errors.New("a big-endian WAV file (RIFX), want RIFF: convert it, such as by sox or ffmpeg")
		case len(data) >= 4 && string(data[:4]) == "RF64":
			return f, errors.New("a WAV file above 4 GiB (RF64): split it")
		}
		return f, fmt.Errorf(
			"starts with %q, want a WAV file (RIFF....WAVE); other recordings are converted by sox or ffmpeg",
			data[:min(len(data), 12)])
	}
	at, seen := int64(12), false
	for {
		if at+8 > int64(len(data)) {
			if at+8 > size {
				if seen {
					return f, errors.New("there is no chunk data: the file is cut short")
				}
				return f, errors.New("there are no chunks fmt and data: the file is cut short")
			}
			return f, fmt.Errorf(
				"byte %d: no chunk data within the first %d bytes: convert the file, such as by sox or ffmpeg", at,
				len(data))
		}
		id, n := string(data[at:at+4]), int64(le.Uint32(data[at+4:]))
		body := at + 8
		if id == "data" {
			if !seen {
				return f, fmt.Errorf(
					"byte %d: the chunk data comes before fmt, which says how to read it: convert the file", at)
			}
			if rest := size - body; n > rest {
				if n != math.MaxUint32 { // what programs write that do not know how much will come
					return f, fmt.Errorf(
						"byte %d: the chunk data claims %d bytes, but the file holds %d: it is cut short; fetch it "+
							"again", at, n, rest)
				}
				n = rest
			}
			frame := int64(f.Channels) * int64(f.Bits/8)
			if n%frame != 0 {
				return f, fmt.Errorf(
					"byte %d: the chunk data has %d bytes, which is no multiple of the %d of %d channels of %d bits: "+
						"the file is cut short or damaged", at, n, frame, f.Channels, f.Bits)
			}
			f.Frames, f.Offset = int(n/frame), body
			return f, nil
		}
		if n > size-body {
			return f, fmt.Errorf(
				"byte %d: the chunk %q claims %d bytes, but the file holds %d: it is cut short or damaged", at, id, n,
				size-body)
		}
		if id == "fmt " {
			if seen {
				return f, fmt.Errorf("byte %d: a second chunk fmt: the file is damaged", at)
			}
			if n < 16 || body+n > int64(len(data)) {
				return f, fmt.Errorf("byte %d: the chunk fmt has %d bytes, want 16, 18 or 40", at, n)
			}
			if err := f.parse(data[body : body+n]); err != nil {
				return f, fmt.Errorf("byte %d: %w", at, err)
			}
			seen = true
		}
		at = body + n + n%2
	}
}

// parse reads the chunk fmt.
func (f *Format) parse(b []byte) error {
	le := binary.LittleEndian
	encoding := le.Uint16(b)
	f.Channels, f.Bits = int(le.Uint16(b[2:])), int(le.Uint16(b[14:]))
	rate, block := le.Uint32(b[4:]), int(le.Uint16(b[12:]))
	if encoding == extensible {
		if len(b) < 40 || string(b[26:40]) != guid {
			return errors.New("an extensible format without a known encoding, want PCM or floats: convert it")
		}
		if valid := int(le.Uint16(b[18:])); valid != 0 && valid > f.Bits {
			return fmt.Errorf("%d valid bits of %d", valid, f.Bits)
		}
		encoding = le.Uint16(b[24:])
	}
	switch {
	case encoding == pcm && (f.Bits == 8 || f.Bits == 16 || f.Bits == 24 || f.Bits == 32):
	case encoding == float && (f.Bits == 32 || f.Bits == 64):
		f.Float = true
	case encoding == pcm || encoding == float:
		return fmt.Errorf("numbers of %d bits, want PCM of 8, 16, 24 or 32, or floats of 32 or 64: convert it, such "+
			"as by sox or ffmpeg", f.Bits)
	default:
		return fmt.Errorf("the encoding %#04x (%s), want PCM or floats: convert it, such as by sox or ffmpeg", encoding,
			encodingName(encoding))
	}
	switch {
	case f.Channels < 1 || f.Channels > maxChannel:
		return fmt.Errorf("%d channels, want 1 to %d", f.Channels, maxChannel)
	case rate == 0 || rate >= maxRate:
		return fmt.Errorf("a rate of %d Hz: the head is damaged", rate)
	case block != f.Channels*f.Bits/8:
		return fmt.Errorf("%d channels of %d bits in blocks of %d bytes, want %d: the head is damaged", f.Channels,
			f.Bits, block, f.Channels*f.Bits/8)
	}
	f.Rate = int(rate)
	return nil
}

// encodingName names the usual encodings.
func encodingName(e uint16) string {
	switch e {
	case 2, 0x11:
		return "ADPCM"
	case 6:
		return "A-law"
	case 7:
		return "µ-law"
	case 0x31:
		return "GSM"
	case 0x50, 0x55:
		return "MPEG"
	}
	return "compressed"
}

// Decode converts frames, the bytes of whole frames from any place of the chunk data on, channel by channel. PCM is
// divided by full scale, 128, 32768, 2²³ or 2³¹. The error wraps [space.ErrNotFinite] and counts frames from first.
func (f Format) Decode(b []byte, first int) ([][]float64, error) {
	size := f.Bits / 8
	n := len(b) / (size * f.Channels)
	out := make([][]float64, f.Channels)
	for c := range out {
		out[c] = make([]float64, n)
	}
	le := binary.LittleEndian
	for i := range n {
		for c := range out {
			p := b[(i*f.Channels+c)*size:]
			var v float64
			switch {
			case f.Float && size == 4:
				v = float64(math.Float32frombits(le.Uint32(p)))
			case f.Float:
				v = math.Float64frombits(le.Uint64(p))
			case size == 1:
				v = (float64(p[0]) - 128) / 128
			case size == 2:
				v = float64(int16(le.Uint16(p))) / 32768
			case size == 3:
				v = float64(int32(uint32(p[0])<<8|uint32(p[1])<<16|uint32(p[2])<<24)) / (1 << 31)
			default:
				v = float64(int32(le.Uint32(p))) / (1 << 31)
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("channel %d, number %d is %v: %w; repair or leave out this recording", c,
					first+i, v, space.ErrNotFinite)
			}
			out[c][i] = v
		}
	}
	return out, nil
}

// Read reads a whole WAV file.
func Read(data []byte) (*Clip, error) {
	f, err := ReadHead(data, int64(len(data)))
	if err != nil {
		return nil, err
	}
	end := f.Offset + int64(f.Frames)*int64(f.Channels)*int64(f.Bits/8)
	x, err := f.Decode(data[f.Offset:end], 0)
	if err != nil {
		return nil, err
	}
	return &Clip{Rate: f.Rate, Bits: f.Bits, Channels: x}, nil
}
