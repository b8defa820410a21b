package app

import (
	"context"
	"testing"

	"nero/run/store/object"
)

// What helps a run in a bucket is said in the words of whoever started the program; a command works in a terminal.
func TestRemediesOfBuckets(t *testing.T) {
	open := func(context.Context, object.Address) (object.Store, error) { return nil, nil }
	for want, say := range map[string]Speech{"--engine wasm": nil, `engine="wasm"`: Keywords{}} {
		r, err := (&App{Speech: say, Bucket: open}).bucket(t.Context(), "s3://runs/a")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Remedies.Alike; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := r.Remedies.Compute(r.String(), 7); got != "nero shard s3://runs/a --index 7" {
			t.Errorf("%q", got)
		}
	}
}
