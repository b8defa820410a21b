//go:build slow && linux

package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"nero/internal/outside"
	"nero/model/engine/choose"
)

// TestSilent traces the program with a fresh home: it looks nothing up, connects to nobody, and writes no file but its
// own, with the embedded engine and with a library that sends telemetry unless it is told not to.
func TestSilent(t *testing.T) {
	strace := outside.Named(t, outside.Strace)
	libraries := map[string]string{"embedded": choose.None, "native": outside.Named(t, outside.Telemetry)}
	for name, lib := range libraries {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := &options{given: map[string]string{"h": "9", "w": "9", "kind": "mean"}}
			p := &options{given: map[string]string{"n": "60", "h": "9", "w": "9"}}
			err := errors.Join(writeONNX(filepath.Join(dir, "m.onnx"), o), o.err,
				writePictures(filepath.Join(dir, "photos"), p), p.err)
			for _, d := range []string{"home", "tmp"} {
				err = errors.Join(err, os.Mkdir(filepath.Join(dir, d), 0o700))
			}
			if err != nil {
				t.Fatal(err)
			}
			trace := func(args ...string) *exec.Cmd {
				c := exec.CommandContext(t.Context(), strace, append([]string{
					"-f", "--seccomp-bpf", "-qq", "-A", "-o", filepath.Join(dir, "trace"), "-e",
					"trace=%network,openat,mkdirat,mkdir,creat", "nero",
				}, args...)...)
				c.Dir = dir
				c.Env = []string{
					"HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
					"PATH=" + os.Getenv("PATH"),
					"NERO_ORT_LIB=" + lib,
				}
				return c
			}
			for _, args := range [][]string{
				{"run", "-q", "m.onnx", "--data", "photos", "--group", "C4", "-o", "run"},
				{
					"audit", "-q", "m.onnx", "--data", "photos", "--group", "C4", "--invariant", "--checks", "lattice",
					"--fail-on", "nothing",
				},
			} {
				if out, err := trace(args...).CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
			}
			answered(t, trace("serve", "run"))
			silent(t, dir)
		})
	}
}

// answered starts a server, lets a model answer, and ends it.
func answered(t *testing.T, c *exec.Cmd) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimSpace(address) + "api/v1/runs/run/samples/2/probe?g=90"
	r, err := http.Get(at) //nolint:noctx // the server ends below
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
		err = errors.Join(err, r.Body.Close())
	}
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%s: %v %v", at, r, err)
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

var (
	// what asks somebody: an address that is connected to, or a packet to one; a server's own listening and answers are
	// none
	asks = regexp.MustCompile(`\b(connect|sendto|sendmsg|sendmmsg)\(.*sa_family=AF_(INET6?|UNIX|NETLINK)`)
	// a file or a folder that is made
	makes = regexp.MustCompile(
		`\b(?:openat\([^"]*"([^"]+)", [A-Z_|]*O_CREAT|mkdirat\([^"]*"([^"]+)"|mkdir\("([^"]+)"|creat\("([^"]+)")`)
)

// silent reads the trace and looks through the home.
func silent(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	made := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if asks.MatchString(lines.Text()) {
			t.Errorf("somebody is asked: %s", lines.Text())
		}
		m := makes.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		made++
		path := strings.Join(m[1:], "")
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		own := false
		for _, below := range []string{"run", "home/.cache/nero", "tmp"} {
			root := filepath.Join(dir, below)
			own = own || path == root || strings.HasPrefix(path, root+"/") || strings.HasPrefix(root, path+"/")
		}
		if !own && !strings.HasPrefix(path, "/dev/") {
			t.Errorf("a file that is not ours is made: %s", lines.Text())
		}
	}
	if err := lines.Err(); err != nil || made < 10 {
		t.Fatalf("%d files made, %v: the trace is not one", made, err)
	}
	for _, empty := range []string{"tmp"} {
		err = filepath.WalkDir(filepath.Join(dir, empty), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				t.Errorf("%s is left", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
