package native_test

import (
	"os"
	"testing"
	"time"

	"nero/model/engine/native"
	"nero/model/engine/selftest"
)

func TestLibraryPassesTheSelfTest(t *testing.T) {
	path := os.Getenv("NERO_ORT_LIB")
	if path == "" {
		t.Skip("NERO_ORT_LIB is not set")
	}
	t0 := time.Now()
	e, err := native.New(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Log(e.Info(), time.Since(t0))
	t0 = time.Now()
	if err := selftest.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
}
