package remote

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// late is a context whose time is up before it has heard of it, as on a busy machine.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now(), true }

// A stream that the server cuts because the time of the call is up is no answer in time, and nothing to try again.
func TestCutAtTheDeadline(t *testing.T) {
	g := &viaGRPC{}
	cut := status.Error(codes.Canceled, "stream terminated by RST_STREAM with error code: CANCEL")
	if err := g.explain(late{t.Context()}, cut); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the deadline: %v, want that it is exceeded", err)
	}
	var f *fault
	if err := g.explain(t.Context(), cut); !errors.As(err, &f) || !f.heals {
		t.Errorf("before: %v, want a fault that may heal", err)
	}
}
