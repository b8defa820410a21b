package remote_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/data/tensor"
	"nero/model/engine/frame"
	"nero/model/engine/remote"
)

// asProgram is set in the environment of the test program where it is to be a model: it doubles numbers, and does what
// its first argument says.
const asProgram = "NERO_TEST_PROGRAM"

func TestMain(m *testing.M) {
	// What fuzzes is started again by the test, too, and has its environment.
	if os.Getenv(asProgram) != "" && !slices.ContainsFunc(os.Args[1:], func(a string) bool {
		return strings.HasPrefix(a, "-test.")
	}) {
		be(os.Args[1:])
		os.Exit(0)
	}
	if err := os.Setenv(asProgram, "1"); err != nil { // the programs that tests start have it
		panic(err)
	}
	os.Exit(m.Run())
}

// be is a program that doubles the numbers of x [-1, 2], in some wrong way.
func be(args []string) {
	how, sign := args[0], ""
	if len(args) > 1 {
		sign = args[1]
	}
	out := &frame.Writer{W: os.Stdout}
	send := func(call uint32, text string, raws ...[]byte) {
		if err := out.Write(call, []byte(text), raws...); err != nil {
			os.Exit(9)
		}
	}
	shape := "[-1,2]"
	switch how {
	case "prints":
		fmt.Println("Loading the weights ...")
	case "garbage":
		_, _ = os.Stdout.Write([]byte{0, 1, 2, 0xff, 0xfe})
	case "two letters":
		fmt.Print("ok")
	case "restless": // another model at each start
		shape = fmt.Sprintf("[-1,%d]", 2+time.Now().UnixNano()%1_000_000_007)
	}
	fmt.Fprintln(os.Stderr, "a line on standard error")
	said := 0
	for {
		f, err := frame.Read(os.Stdin, frame.Limits{JSON: 1 << 20, Raw: 1 << 30})
		if err != nil {
			if how == "stays" {
				time.Sleep(time.Hour)
			}
			return
		}
		var q struct {
			Method string
			Inputs []struct{ Shape []int }
		}
		if err := json.Unmarshal(f.JSON, &q); err != nil {
			os.Exit(8)
		}
		switch q.Method {
		case "hello":
			switch how {
			case "newer":
				send(0, `{"hello":{"protocol":2}}`)
			case "refuses":
				send(0, `{"error":"no licence"}`)
			case "rude":
				send(0, `{"outputs":[]}`)
			case "mute":
				time.Sleep(time.Hour)
			case "quits":
				fmt.Fprintln(os.Stderr, "ImportError: no module named torch")
				os.Exit(1)
			case "many":
				send(0, `{"hello":{"protocol":1,"concurrency":4}}`)
			default:
				send(0, `{"hello":{"protocol":1,"program":"doubler"}}`)
			}
		case "describe":
			switch how {
			case "no json":
				send(f.Call, `{"inputs":`)
			case "no inputs":
				send(f.Call, `{}`)
			case "other number":
				send(f.Call+7, `{}`)
			case "secretive":
				time.Sleep(time.Hour)
			case "reads":
				send(f.Call, `{"name":"d","inputs":[{"name":"x","datatype":"BYTES","shape":[-1]}],`+
					`"outputs":[{"name":"y","datatype":"BYTES","shape":[-1]}]}`)
			default:
				if how == "tells" {
					send(0, `{"event":"note","text":"runs on one core"}`)
					send(0, `{"event":"weather","text":"fine"}`)
				}
				send(f.Call, `{"name":"d","inputs":[{"name":"x","datatype":"FP32","shape":`+shape+
					`}],"outputs":[{"name":"y","datatype":"FP32","shape":`+shape+`}]}`)
			}
		case "infer":
			if said++; how == "dies at the third" && said == 3 {
				if _, err := os.Stat(sign); err != nil {
					_ = os.WriteFile(sign, nil, 0o600)
					fmt.Fprintln(os.Stderr, "Segmentation fault, said the library")
					os.Exit(139)
				}
			}
			if how == "waits" { // until it is told to go on
				_ = os.WriteFile(sign+".asked", nil, 0o600)
				for !there(sign) {
					time.Sleep(time.Millisecond)
				}
			}
			if how == "reads" { // each text once more, with what else was asked
				var with struct{ Parameters map[string]any }
				_ = json.Unmarshal(f.JSON, &with) // it was above
				text := fmt.Sprintf("%s %v", f.Raw[4:], with.Parameters["seed"])
				raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
				send(f.Call, fmt.Sprintf(`{"outputs":[{"name":"y","datatype":"BYTES","shape":[1],"parameters":`+
					`{"binary_data_size":%d}}]}`, len(raw)), raw)
				continue
			}
			answer(send, how, f.Call, q.Inputs[0].Shape[0], f.Raw)
		}
	}
}

// there tells whether a file is.
func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// answer doubles what came.
func answer(send func(uint32, string, ...[]byte), how string, call uint32, n int, x []byte) {
	y := slices.Clone(x)
	for i := 0; i < len(y); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(y[i:]))
		binary.LittleEndian.PutUint32(y[i:], math.Float32bits(2*v))
	}
	datatype, shape, size := "FP32", fmt.Sprintf("[%d,2]", n), len(y)
	switch how {
	case "hangs":
		time.Sleep(time.Hour)
	case "half":
		_, _ = os.Stdout.WriteString("NRL1\x01")
		os.Exit(0)
	case "prints later":
		fmt.Println("predicting")
	case "prints within":
		send(call, `{"outputs": predicting`)
		return
	case "error":
		send(call, `{"error":"out of cheese"}`)
		return
	case "shape":
		shape = fmt.Sprintf("[%d,1,2]", n)
	case "fewer":
		shape, size = "[0,2]", 0
		y = nil
	case "dtype":
		datatype = "INT32"
	case "word":
		datatype = "BYTES"
	case "too much":
		y = append(y, 1, 2, 3)
	case "too little":
		y = y[:len(y)-4]
		size = len(y)
	case "promises":
		size += 100
	case "huge":
		_, _ = os.Stdout.WriteString("NRL1" + string(binary.LittleEndian.AppendUint32(nil, call)) +
			"\x02\x00\x00\x00" + "\x00\x00\x00\x00\x00\x01\x00\x00{}")
		time.Sleep(time.Hour)
	case "nan":
		binary.LittleEndian.PutUint32(y, math.Float32bits(float32(math.NaN())))
	case "twice":
		send(call, `{"error":"first"}`)
	case "nothing":
		send(call, `{}`)
		return
	case "leaves": // one that holds the streams open
		c := exec.Command(os.Args[0], "stays")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		in, err := c.StdinPipe()
		if err != nil || c.Start() != nil {
			os.Exit(7)
		}
		_ = in.Close()
		os.Exit(5)
	}
	send(call, fmt.Sprintf(`{"outputs":[{"name":"y","datatype":%q,"shape":%s,"parameters":{"binary_data_size":%d}}]}`,
		datatype, shape, size), y)
}

func program(how string, more ...string) remote.Config {
	return remote.Config{Command: append([]string{os.Args[0], how}, more...), Timeout: 20 * time.Second}
}

func two() []tensor.Named {
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32([]float32{1, 2, 3, 4}, 2, 2)}}
}

// ask starts a program and asks it once.
func ask(t *testing.T, c remote.Config) ([]tensor.Named, error) {
	t.Helper()
	m, err := remote.Connect(t.Context(), c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	return m.Run(t.Context(), two())
}

func TestProgram(t *testing.T) {
	for _, how := range []string{"well", "many", "tells", "nan"} {
		out, err := ask(t, program(how))
		if err != nil {
			t.Errorf("%s: %v", how, err)
			continue
		}
		y, err := out[0].Float32s()
		if err != nil || len(y) != 4 || y[3] != 8 || (how == "nan") != math.IsNaN(float64(y[0])) {
			t.Errorf("%s: %v %v", how, y, err)
		}
	}
}

// What a program tells unasked is a note; what nobody knows is passed over.
func TestProgramTells(t *testing.T) {
	m, err := remote.Connect(t.Context(), program("tells"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // it returns nothing but nil
	if got := m.Notes(); len(got) != 1 || !strings.Contains(got[0], "runs on one core") {
		t.Errorf("%q", got)
	}
	if i := m.Engine().Info(); i.Name != "program" || !strings.HasSuffix(i.Path, " tells") {
		t.Errorf("%+v", i)
	}
}

// Every way in which a program can be wrong is an error that names it and says what is wrong.
func TestProgramFaults(t *testing.T) {
	for how, want := range map[string]string{
		"prints":        `text on its standard output, which is for frames alone: "Loading the weights ..."`,
		"prints later":  `text on its standard output, which is for frames alone: "predicting"`,
		"prints within": "the answer is not what the protocol says",
		"two letters":   `text on its standard output, which is for frames alone: "ok`,
		"garbage":       "bytes that begin no frame: 00 01 02 ff fe",
		"newer":         "it speaks protocol 2; expected 1",
		"refuses":       `it refuses to begin: "no licence"`,
		"rude":          "its first frame is no hello",
		"mute":          "it did not answer the first frame, the hello, in time",
		"quits":         `exit status 1; its last words on standard error: "a line on standard error | ImportError: no module`,
		"no json":       "the JSON of its frame is not what the protocol says",
		"no inputs":     "its metadata lists no inputs",
		"other number":  "it answers call 8, which is not open",
		"secretive":     "no answer within 3s; raise timeout or --time-limit",
		"restless":      "two starts of it describe two models",
		"hangs":         "no answer within 300ms; raise timeout or --time-limit",
		"half":          "in the middle of a frame",
		"error":         `it answers with an error: "out of cheese"; its last words`,
		"shape":         "came in shape [2 1 2], the metadata says [? 2]",
		"fewer":         "came in shape [0 2] for a request of 2 samples",
		"dtype":         "came as int32, the metadata says float32",
		"word":          `came as "BYTES"`,
		"too much":      "3 bytes follow the last output",
		"too little":    "12 bytes came for float32 in shape [2 2], which needs 16",
		"promises":      "should have 116 bytes, and 16 are left",
		"huge":          "it announces 2 bytes of JSON and 1099511627776 of tensors",
		"nothing":       "the answer lacks the output \"y\"",
		"leaves":        "exit status 5",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := program(how)
			switch how {
			case "mute", "hangs", "secretive":
				c.Timeout = 300 * time.Millisecond
				if how == "mute" {
					c.Timeout /= 10
				}
			case "restless":
				c.Workers = 2
			}
			_, err := ask(t, c)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "program ") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

// A program that has ended under a call is started again for the next one; so is one that was ended because it hung.
func TestProgramAgain(t *testing.T) {
	c := program("dies at the third", filepath.Join(t.TempDir(), "sign"))
	m, err := remote.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // it returns nothing but nil
	for call := 1; call <= 6; call++ {
		_, err := m.Run(t.Context(), two())
		if call == 3 {
			if err == nil || !strings.Contains(err.Error(), "exit status 139") ||
				!strings.Contains(err.Error(), "said the library") {
				t.Errorf("call 3: %v", err)
			}
		} else if err != nil {
			t.Errorf("call %d: %v", call, err)
		}
	}
}

// Whoever waits no longer is let go at once, and the program goes on with the next question.
func TestProgramCancelled(t *testing.T) {
	sign := filepath.Join(t.TempDir(), "sign")
	m, err := remote.Connect(t.Context(), program("waits", sign))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // it returns nothing but nil
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := m.Run(ctx, two())
		ended <- err
	}()
	for !there(sign + ".asked") {
		select {
		case err := <-ended:
			t.Fatalf("it has ended before the program was asked: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) { // the program answers when it is told to, so not yet
		t.Errorf("cancelled: %v", err)
	}
	if err := os.WriteFile(sign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), two()); err != nil {
		t.Errorf("after that: %v", err)
	}
	if err := os.Remove(sign); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Run(ctx, two()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	if err := os.WriteFile(sign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), two()); err != nil {
		t.Errorf("started again: %v", err)
	}
}

// The fingerprint is that of the program, its arguments, and its answers.
func TestProgramFingerprint(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	digest := func(how string, more ...string) string {
		t.Helper()
		c := program(how, more...)
		c.Workers = 2
		m, err := remote.Connect(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close() //nolint:errcheck // it returns nothing but nil
		sum, repeats, err := m.Fingerprint(t.Context(), two())
		if err != nil || !repeats {
			t.Fatal(sum, repeats, err)
		}
		return sum
	}
	first := digest("well", note)
	if again := digest("well", note); again != first {
		t.Error("the same program has two fingerprints")
	}
	if other := digest("nan", note); other == first {
		t.Error("another argument has the same fingerprint")
	}
	if err := os.WriteFile(note, []byte("weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other := digest("well", note); other == first {
		t.Error("the bytes of a file that an argument names are no part of the fingerprint")
	}
}

func TestProgramNotThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, command := range map[string][]string{
		"there is no program nosuchprogram on the PATH": {"nosuchprogram"},
		"look at its path":   {"./none"},
		"make it executable": {"./text"},
	} {
		if want == "make it executable" && os.PathSeparator == '\\' {
			continue // what can be run is told by the name there
		}
		_, err := remote.Connect(t.Context(), remote.Config{Command: command, Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
