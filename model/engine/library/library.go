// Package library finds out for which platform a shared library is made and takes it out of the archives in which ONNX
// Runtime is published. It never loads anything.
package library

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Platform is an operating system and a processor under Go's names, such as linux and amd64. An ELF file does not tell
// the systems apart that share the format: it counts as linux.
type Platform struct{ OS, Arch string }

// Host is the platform of this program.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// String is OS-ARCH, such as "linux-amd64".
func (p Platform) String() string { return p.OS + "-" + p.Arch }

// format is the platform as file headers know it.
func (p Platform) format() Platform {
	if p.OS != "windows" && p.OS != "darwin" {
		p.OS = "linux"
	}
	return p
}

// headSize is how much of a file [Identify] wants to see.
const headSize = 4096

// Identify names the platforms for which the library that starts with head is made: one, or several for a universal
// file of macOS. It returns nil when head is not the start of a shared library; 4096 bytes suffice.
func Identify(head []byte) []Platform {
	le, be := binary.LittleEndian, binary.BigEndian
	switch {
	case len(head) >= 20 && string(head[:4]) == "\x7fELF":
		var order binary.ByteOrder = le
		if head[5] == 2 {
			order = be
		}
		const sharedObject = 3
		if order.Uint16(head[16:]) != sharedObject {
			return nil
		}
		arch := map[uint16]string{
			3: "386", 21: "ppc64le", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64",
			243: "riscv64", 258: "loong64",
		}
		return []Platform{{"linux", or(arch[order.Uint16(head[18:])])}}
	case len(head) >= 64 && string(head[:2]) == "MZ":
		p := uint64(le.Uint32(head[60:]))
		// a DLL
		if p+24 > uint64(len(head)) || string(head[p:p+4]) != "PE\x00\x00" || le.Uint16(head[p+22:])&0x2000 == 0 {
			return nil
		}
		arch := map[uint16]string{0x14c: "386", 0x8664: "amd64", 0xaa64: "arm64"}
		return []Platform{{"windows", or(arch[le.Uint16(head[p+4:])])}}
	case len(head) >= 16 && le.Uint32(head) == 0xfeedfacf:
		const dylib = 6
		if le.Uint32(head[12:]) != dylib {
			return nil
		}
		return []Platform{{"darwin", darwinArch(le.Uint32(head[4:]))}}
	// universal, or a Java class, whose version is larger than any count
	case len(head) >= 8 && be.Uint32(head) == 0xcafebabe:
		n := int(be.Uint32(head[4:]))
		if n < 1 || n > 8 || len(head) < 8+20*n {
			return nil
		}
		var ps []Platform
		for i := range n {
			ps = append(ps, Platform{"darwin", darwinArch(be.Uint32(head[8+20*i:]))})
		}
		return ps
	}
	return nil
}

func darwinArch(cpu uint32) string {
	return or(map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[cpu])
}

func or(arch string) string {
	if arch == "" {
		return "unknown"
	}
	return arch
}

// ErrNotLibrary says that a file is not a shared library of any platform.
var ErrNotLibrary = errors.New("not a shared library")

// Check returns an error unless the file at path is a whole shared library for p. It wraps [ErrNotLibrary] for other
// files and says what they look like, and [ErrIncomplete] for a library that is cut off.
func Check(path string, p Platform) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s: %w but a %s", path, ErrNotLibrary, kind(st.Mode()))
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	if err := checkHead(path, head[:n], p); err != nil {
		return err
	}
	if err := complete(f, st.Size(), p.format().OS); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func kind(m os.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "special file"
}

func checkHead(name string, head []byte, p Platform) error {
	ps := Identify(head)
	if len(ps) == 0 {
		return fmt.Errorf("%s: %w: %s", name, ErrNotLibrary, looks(head))
	}
	if !slices.Contains(ps, p.format()) {
		return fmt.Errorf("%s is a library for %s, this program runs on %s", name, join(ps), p)
	}
	return nil
}

// join lists platforms for an error.
func join(ps []Platform) string {
	s := make([]string, len(ps))
	for i, p := range ps {
		s[i] = p.String()
	}
	slices.Sort(s)
	return strings.Join(slices.Compact(s), ", ")
}

// looks describes a file that is not a library.
func looks(head []byte) string {
	text := true
	for _, c := range head {
		text = text && (c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t')
	}
	switch s := string(head); {
	case s == "":
		return "it is empty"
	case strings.HasPrefix(s, "version https://git-lfs"):
		return "it is a pointer of Git LFS, fetch the file itself"
	case strings.HasPrefix(s, "\x1f\x8b"), strings.HasPrefix(s, "PK\x03\x04"):
		return "it is an archive, install it first"
	case strings.HasPrefix(s, "\x7fELF"), strings.HasPrefix(s, "MZ"), strings.HasPrefix(s, "\xcf\xfa\xed\xfe"):
		return "it is a program or another object file"
	case text:
		return "it is a text file"
	}
	return "its format is unknown"
}
