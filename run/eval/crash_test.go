package eval

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"nero/model/engine"
	"nero/run/job"
)

// A model that crashes its engine, or does not end, on one picture at one element: the error names both, whatever the
// batch, and a run that keeps going has a row that says so beside the rows of a run without that picture.
func TestACrashNamesSampleAndElement(t *testing.T) {
	sound := rowsOf(t, evaluation(t, &linear{shared: true}, pictures{n: 6, bad: -1}, 4, 2))
	for _, failure := range []error{
		&engine.CrashError{Reason: "SIGFPE: floating-point exception"},
		&engine.TimeError{Limit: time.Second},
	} {
		for _, batch := range []int{1, 4, 64} {
			e := &linear{shared: batch != 4, breaks: func(y []float32) error {
				if reflect.DeepEqual(y, []float32{2, 0, 2}) { // picture 1 after a quarter turn
					return failure
				}
				return nil
			}}
			ev := evaluation(t, e, pictures{n: 6, bad: -1}, batch, 2)
			if err := ev.Prepare(); err != nil {
				t.Fatal(err)
			}
			if err := ev.Calibrate(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			_, err := ev.Shard(t.Context(), job.Shard{Lo: 0, Hi: 6}, nil)
			if err == nil {
				t.Fatal("a crash is no error")
			}
			for _, want := range []string{"sample p1:", "element 90°", "model m0", failure.Error()} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("batch %d: %v, want %q in it", batch, err, want)
				}
			}
			ev.KeepGoing = true
			rows, err := ev.Shard(t.Context(), job.Shard{Lo: 0, Hi: 6}, nil)
			if err != nil || len(rows) != len(sound) {
				t.Fatalf("batch %d: %d rows, want %d (%v)", batch, len(rows), len(sound), err)
			}
			for i, r := range rows {
				switch {
				case r.Sample == "p1":
					if !strings.Contains(r.Err, failure.Error()) || r.Curves[0][0] == r.Curves[0][0] {
						t.Errorf("batch %d: the row of the sample is %+v", batch, r)
					}
				case !reflect.DeepEqual(r, sound[i]):
					t.Errorf("batch %d: row %d is %+v, want %+v", batch, i, r, sound[i])
				}
			}
		}
	}
}

// A sample on which the model crashes as it is ends the calibration with its name, and is left out of it where the run
// keeps going.
func TestACrashInTheCalibration(t *testing.T) {
	e := &linear{shared: true, breaks: func(y []float32) error {
		if reflect.DeepEqual(y, []float32{2, 2, 0}) { // picture 1 as it is
			return &engine.CrashError{Reason: "SIGFPE"}
		}
		return nil
	}}
	ev := evaluation(t, e, pictures{n: 6, bad: -1}, 4, 1)
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := ev.Calibrate(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "sample p1") {
		t.Errorf("%v, want the sample's name", err)
	}
	ev.KeepGoing = true
	if err := ev.Calibrate(t.Context(), 2); err != nil || !(ev.Scales[0] > 0) {
		t.Errorf("scale %v, %v", ev.Scales, err)
	}
}
