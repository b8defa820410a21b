package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test program is the child: with "echo" it repeats its input, with "leave" it starts one that holds its output
// open, says its number, and ends; with "stay" it waits.
func TestMain(m *testing.M) {
	switch os.Getenv("NERO_TEST_PROCESS") {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintln(os.Stderr, "over")
		os.Exit(3)
	case "leave":
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "NERO_TEST_PROCESS=stay")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			os.Exit(4)
		}
		fmt.Println("left")
		os.Exit(0)
	case "stay":
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, what string, said io.Writer) *Process {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "NERO_TEST_PROCESS="+what)
	p, err := Start(c, said)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); <-p.Gone(); _ = p.In.Close(); _ = p.Out.Close() })
	return p
}

func TestStreams(t *testing.T) {
	var said bytes.Buffer
	p := start(t, "echo", &said)
	if _, err := p.In.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.In.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(p.Out)
	<-p.Gone()
	if err != nil || string(b) != "hello" || said.String() != "over\n" || p.State().ExitCode() != 3 || p.Err() == nil {
		t.Errorf("%q, %v; said %q; %v", b, err, said.String(), p.Err())
	}
}

// What a program leaves behind ends with it: its output, which the other holds open, ends too.
func TestLeftBehind(t *testing.T) {
	p := start(t, "leave", nil)
	done := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(bufio.NewReader(p.Out))
		done <- string(b)
	}()
	select {
	case s := <-done:
		if s != "left\n" && s != "left\r\n" {
			t.Errorf("%q", s)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("what the program has left behind goes on")
	}
}

func TestKill(t *testing.T) {
	p := start(t, "stay", nil)
	p.Kill()
	select {
	case <-p.Gone():
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	p.Kill() // once more is nothing
}

func TestNoProgram(t *testing.T) {
	if _, err := Start(exec.Command(t.TempDir()+"/none"), nil); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestLine(t *testing.T) {
	for line, want := range map[string][]string{
		"./model":                      {"./model"},
		`  python3  "my model.py" -x `: {"python3", "my model.py", "-x"},
		`C:\a\b.exe 'say "hi"' ""`:     {`C:\a\b.exe`, `say "hi"`, ""},
		`a 'x"y'"'"'z'`:                {"a", `x"y'z`},
	} {
		got, err := Split(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
		again, err := Split(Line(got))
		if err != nil || !slices.Equal(again, want) {
			t.Errorf("%q: again %q, %v", line, again, err)
		}
	}
	for _, line := range []string{"", "  ", `"a b`, `""`} {
		if got, err := Split(line); err == nil {
			t.Errorf("%q: %q", line, strings.Join(got, "|"))
		}
	}
}

// Whatever is read as a command is written as a line that is read as the same.
func FuzzSplit(f *testing.F) {
	f.Add(`python3 "my model.py" --say 'a "b"' it\'`)
	f.Add("a''\"\" \t\u00a0b")
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			return
		}
		if again, err := Split(Line(words)); err != nil || !slices.Equal(again, words) {
			t.Errorf("%q is %q, and as the line %q %q (%v)", line, words, Line(words), again, err)
		}
	})
}
