//go:build slow && unix

package watch

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nero/audit/document"
	"nero/internal/slow"
	"nero/present/sheet"
	"nero/run/trend"
)

// TestTenThousandAudits reads the audits of ten thousand releases, of 64 inputs and three elements each, and finds the
// one at which it became worse. It says how long that takes; the wish is 20 s on two processors.
func TestTenThousandAudits(t *testing.T) {
	slow.Test(t)
	const releases, worse = 10000, 6000
	dir, base := t.TempDir(), spread(1, 64, 0.01)
	bytesOf := 0
	for k := range releases {
		size := 1.0
		if k+1 >= worse {
			size = 2
		}
		var b bytes.Buffer
		if err := document.Write(&b, made{
			model: "net-v" + strconv.Itoa(k+1), data: "d", date: "2026-01-02", errors: near(uint64(k), base, size),
		}.document()); err != nil {
			t.Fatal(err)
		}
		bytesOf += b.Len()
		write(t, dir, fmt.Sprintf("%d/r%05d/audit.json", k/100, k+1), k%60, b.Bytes())
	}
	began, used := time.Now(), processor(t)
	r := look(t, dir, options(t, "version"))
	if err := sheet.JSON(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d audits of %d MB: %.1f s by the clock, %.1f s of processor time", releases, bytesOf>>20,
		time.Since(began).Seconds(), (processor(t) - used).Seconds())
	s := r.series(t, largest, SameInputs)
	if r.State != trend.Alarm || r.Audits != releases || s.FirstAlarm == nil || s.FirstAlarm.Place != worse {
		t.Errorf("%s: %d audits, first alarm %+v", r.State, r.Audits, s.FirstAlarm)
	}
}

// processor is the time that this process has had of processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
