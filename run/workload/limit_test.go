package workload

import (
	"testing"
	"time"

	"nero/run/job"
)

// What the user says of one call wins over the study, and the study over what a program presets.
func TestLimit(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		flag, most, want time.Duration
		study            float64
	}{
		{want: 0},
		{study: 1.5, want: 1500 * time.Millisecond},
		{study: 1.5, flag: time.Minute, want: time.Minute},
		{study: 1.5, flag: time.Second, want: time.Second},
		{study: 1.5, flag: never, want: never},
		{most: time.Minute, want: time.Minute},
		{most: time.Minute, study: 300, want: time.Minute},
		{most: time.Minute, study: 3, want: 3 * time.Second},
		{most: time.Minute, study: 300, flag: time.Hour, want: time.Hour},
		{most: time.Minute, flag: never, want: never},
	} {
		o := Options{TimeLimit: c.flag, MostTime: c.most}
		if got := o.limit(job.Model{Timeout: c.study}); got != c.want {
			t.Errorf("flag %v, study %v s, preset %v: %v, want %v", c.flag, c.study, c.most, got, c.want)
		}
	}
}
