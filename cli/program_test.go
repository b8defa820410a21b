package cli

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"nero/model/engine/frame"
)

// steep is a program that is a model, for the scripts: how much pictures change to the next pixel on the right. With
// --both it is the sum over all four neighbours, which turns with the picture. --die N @FILE ends it at the N-th
// question, once; --shout prints to standard output; --hang never answers a question, --split answers two channels and
// says that there is one.
func steep() {
	args := os.Args[1:]
	both := slices.Contains(args, "--both")
	left, sign := -1, ""
	if i := slices.Index(args, "--die"); i >= 0 {
		if _, err := os.Stat(args[i+2][1:]); err != nil {
			left, _ = strconv.Atoi(args[i+1])
			sign = args[i+2][1:]
		}
	}
	if slices.Contains(args, "--shout") {
		fmt.Println("ready")
	}
	out := &frame.Writer{W: os.Stdout}
	for {
		f, err := frame.Read(os.Stdin, frame.Limits{JSON: 1 << 20, Raw: 1 << 30})
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, err)
			}
			return
		}
		var q struct {
			Method string
			Inputs []struct{ Shape []int }
		}
		if err := json.Unmarshal(f.JSON, &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer, raw := `{"error":"not known"}`, []byte(nil)
		switch q.Method {
		case "hello":
			answer = `{"hello":{"protocol":1,"program":"steep 1"}}`
		case "describe":
			answer = `{"name":"steep","inputs":[{"name":"x","datatype":"FP32","shape":[-1,1,-1,-1]}],` +
				`"outputs":[{"name":"y","datatype":"FP32","shape":[-1,1,-1,-1]}]}`
		case "infer":
			if left--; left == 0 {
				_ = os.WriteFile(sign, nil, 0o600)
				fmt.Fprintln(os.Stderr, "the weights are gone")
				os.Exit(3)
			}
			if slices.Contains(args, "--hang") {
				time.Sleep(time.Hour)
			}
			s, channels := q.Inputs[0].Shape, 1
			raw = changes(f.Raw, s[2], s[3], both)
			if slices.Contains(args, "--split") {
				channels, raw = 2, append(raw, raw...)
			}
			answer = fmt.Sprintf(`{"outputs":[{"name":"y","datatype":"FP32","shape":[%d,%d,%d,%d],`+
				`"parameters":{"binary_data_size":%d}}]}`, s[0], channels, s[2], s[3], len(raw))
		}
		if err := out.Write(f.Call, []byte(answer), raw); err != nil {
			return
		}
	}
}

// changes are those of every picture; its border is repeated.
func changes(raw []byte, h, w int, both bool) []byte {
	out := make([]byte, len(raw))
	for at := 0; at < len(raw); at += 4 * h * w {
		p := func(r, c int) float64 {
			i := at + 4*(min(max(r, 0), h-1)*w+min(max(c, 0), w-1))
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
		}
		for r := range h {
			for c := range w {
				v := math.Abs(p(r, c+1) - p(r, c))
				if both {
					v += math.Abs(p(r, c-1)-p(r, c)) + (math.Abs(p(r+1, c)-p(r, c)) + math.Abs(p(r-1, c)-p(r, c)))
				}
				binary.LittleEndian.PutUint32(out[at+4*(r*w+c):], math.Float32bits(float32(v)))
			}
		}
	}
	return out
}
