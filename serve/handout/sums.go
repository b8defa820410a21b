package handout

import (
	"encoding/json"
	"math"
	"strconv"
)

// packSums makes a block of curves. Their numbers are those of sums of float32 values and keep the digits of one.
func packSums(name string, doc *sums) (*block, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return pack(entry{Name: name, Form: "json"}, single(raw))
}

// single writes the numbers of a JSON text that are no whole ones with the digits that a float32 needs: about half of
// those of a float64. Beyond the range of float32 they stay as they are.
func single(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"':
			end := i + 1
			for ; end < len(text) && text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			end = min(end+1, len(text))
			out = append(out, text[i:end]...)
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end, whole := i+1, true
			for ; end < len(text); end++ {
				d := text[end]
				if d == '.' || d == 'e' || d == 'E' {
					whole = false
				} else if (d < '0' || d > '9') && d != '+' && d != '-' {
					break
				}
			}
			number := text[i:end]
			if v, err := strconv.ParseFloat(string(number), 64); !whole && err == nil {
				if f := float64(float32(v)); !math.IsInf(f, 0) && (f != 0 || v == 0) {
					number, _ = json.Marshal(float32(v)) //nolint:errchkjson // it is finite
				}
			}
			out = append(out, number...)
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}
