package cli

import (
	"fmt"
	"strconv"
	"strings"

	"nero/app"
	"nero/run/job"
)

// parseResize reads how photos come to one size, such as "short=256,crop=224" or "letterbox=480x640,fill=114".
func parseResize(text string) (job.Resize, error) {
	var r job.Resize
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		if seen[name] {
			return r, fmt.Errorf("--resize has %s twice: leave one out", name)
		}
		seen[name] = true
		var err error
		want := "NUMBER, from 1 to 65536, or HEIGHTxWIDTH where it is no square"
		switch name {
		case "short":
			r.Short, err = pixels(value)
			want = "NUMBER, from 1 to 65536"
		case "crop":
			r.Crop, err = side(value)
		case "stretch":
			r.Stretch, err = side(value)
		case "letterbox":
			r.Letterbox, err = side(value)
		case "fill":
			r.Fill, err = strconv.ParseFloat(value, 64)
			want = "NUMBER, a value of a pixel such as 114"
		case "kernel":
			r.Kernel = value
			want = "NAME, one of " + strings.Join(app.Kernels(), ", ")
		case "plain":
			r.Plain = true
			if given {
				return r, fmt.Errorf("--resize has %q, and plain takes no value: leave out %q", part, "="+value)
			}
			continue
		default:
			return r, fmt.Errorf("--resize has %q, want parts such as short=256, crop=224, stretch=224, "+
				"letterbox=640, fill=114, kernel=bicubic or plain, with commas between them", part)
		}
		if err != nil || !given || value == "" {
			return r, fmt.Errorf("--resize has %q, want %s=%s", part, name, want)
		}
	}
	return r, nil
}

func pixels(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < 1 || n > 1<<16) {
		err = strconv.ErrRange
	}
	return n, err
}

// side is height and width: both of "224", or "480x640".
func side(s string) ([]int, error) {
	a, b, two := strings.Cut(s, "x")
	h, err := pixels(a)
	if err != nil || !two {
		return []int{h, h}, err
	}
	w, err := pixels(b)
	return []int{h, w}, err
}
