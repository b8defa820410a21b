// Package seal lets a JSON file say by itself whether it holds what was written: its last key is the SHA-256 of the
// rest.
//
// The key is called sha256, stands at the end of the outermost object, and its value is the SHA-256, in 64 lower-case
// hexadecimal digits, of the text without the key and the comma before it. A file that was written before there were
// seals has none, and is read; who reads one has to refuse keys that it does not know, so that damage to the name of
// the key does not pass for its absence.
package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// ErrBroken marks a text that is not what its seal says.
var ErrBroken = errors.New("it was changed or damaged since it was written")

// tail is the end of a text with a seal.
var tail = regexp.MustCompile(`,(\s*)"sha256": "([^"]*)"\s*\}\s*$`)

// reach is how far from the end of a text its seal is looked for, in bytes: a search through all of a large file would
// take longer than its digest.
const reach = 4096

// end is where the end of an object begins, with the spaces before it; -1 if the text is none.
func end(text []byte) int {
	const space = "\t\n\f\r "
	body, ok := bytes.CutSuffix(bytes.TrimRight(text, space), []byte("}"))
	if !ok {
		return -1
	}
	return len(bytes.TrimRight(body, space))
}

// Add seals the text of a JSON object, which has at least one key. The new key is indented as the closing brace and one
// step more.
func Add(text []byte, indent string) []byte {
	last := end(text)
	if last < 0 {
		return text // no object: whoever reads it says so
	}
	sum := sha256.Sum256(text)
	var b bytes.Buffer
	b.Grow(len(text) + len(indent) + 2*len(sum) + len(",\n\"sha256\": \"\""))
	b.Write(text[:last])
	fmt.Fprintf(&b, ",\n%s\"sha256\": %q", indent, hex.EncodeToString(sum[:]))
	b.Write(text[last:])
	return b.Bytes()
}

// Open takes the seal off a text and reports whether there was one. The error wraps [ErrBroken] for a text that is not
// what its seal says.
func Open(text []byte) (plain []byte, sealed bool, err error) {
	from := max(len(text)-reach, 0)
	// The expression would be tried at every comma there; it fits at the last one before such a key or nowhere.
	key := bytes.LastIndex(text[from:], []byte(`"sha256"`))
	if key < 0 {
		return text, false, nil
	}
	from += max(bytes.LastIndexByte(text[from:from+key], ','), 0)
	at := tail.FindSubmatchIndex(text[from:])
	if at == nil {
		return text, false, nil
	}
	for i := range at {
		at[i] += from
	}
	space, said := text[at[2]:at[3]], text[at[4]:at[5]]
	// What follows the value of the key followed the value before it.
	plain = append(append([]byte{}, text[:at[0]]...), text[at[5]+1:]...)
	if !bytes.HasPrefix(space, []byte("\n")) || !bytes.Equal(Add(plain, string(space[1:])), text) {
		sum := sha256.Sum256(plain)
		return nil, true, fmt.Errorf("%w: its SHA-256 is %.12s, and its key sha256 says %.12s", ErrBroken,
			hex.EncodeToString(sum[:]), said)
	}
	return plain, true, nil
}

// Stranger is a key of a JSON object that a structure has no field for, "" if there is none. A text without a seal that
// has one may have lost its seal to damage of that very key.
func Stranger(text []byte, structure any) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return "" // whoever reads it says so
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(structure)) { // those of embedded structures, too
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(all, name)
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		return k
	}
	return ""
}
