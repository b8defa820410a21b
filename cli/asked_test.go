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

// judge is a program that is a metric, for the scripts: the share of the numbers of the prediction that are those of
// the reference. --die N @FILE ends it at the N-th question, once; --hang never answers; --two answers two numbers;
// --read NAME reads something else; --beyond answers 7; --off-by-one counts one number too few.
func judge() {
	args := os.Args[1:]
	has := func(flag string) bool { return slices.Contains(args, flag) }
	left, sign := -1, ""
	if i := slices.Index(args, "--die"); i >= 0 {
		if _, err := os.Stat(args[i+2][1:]); err != nil {
			left, _ = strconv.Atoi(args[i+1])
			sign = args[i+2][1:]
		}
	}
	read := "prediction"
	if i := slices.Index(args, "--read"); i >= 0 {
		read = args[i+1]
	}
	n := 1
	if has("--two") {
		n = 2
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
		var q struct{ Method string }
		if err := json.Unmarshal(f.JSON, &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer, raw := `{"error":"not known"}`, []byte(nil)
		switch q.Method {
		case "hello":
			answer = `{"hello":{"protocol":1,"program":"judge 1"}}`
		case "describe":
			answer = `{"name":"judge","inputs":[{"name":"` + read + `","datatype":"FP32","shape":[-1,-1,-1]},` +
				`{"name":"reference","datatype":"FP32","shape":[-1,-1,-1]}],` +
				`"outputs":[{"name":"share","datatype":"FP64","shape":[-1]}]}`
		case "infer":
			if left--; left == 0 {
				_ = os.WriteFile(sign, nil, 0o600)
				fmt.Fprintln(os.Stderr, "the ruler broke")
				os.Exit(3)
			}
			if has("--hang") {
				time.Sleep(time.Hour)
			}
			v := equal(f.Raw[:len(f.Raw)/2], f.Raw[len(f.Raw)/2:])
			if has("--off-by-one") {
				v -= 1 / float64(len(f.Raw)/8)
			}
			if has("--beyond") {
				v = 7
			}
			for range n {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
			}
			answer = fmt.Sprintf(`{"outputs":[{"name":"share","datatype":"FP64","shape":[%d],`+
				`"parameters":{"binary_data_size":%d}}]}`, n, len(raw))
		}
		if err := out.Write(f.Call, []byte(answer), raw); err != nil {
			return
		}
	}
}

// equal is the share of the numbers of two arrays that are the same.
func equal(a, b []byte) float64 {
	same := 0
	for at := 0; at+4 <= len(a); at += 4 {
		if string(a[at:at+4]) == string(b[at:at+4]) {
			same++
		}
	}
	return float64(same) / float64(len(a)/4)
}
