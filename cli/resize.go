package cli

import (
	"fmt"
	"strconv"
	"strings"

	"nero/run/job"
)

// parseResize reads how photos come to one size, such as "short=256,crop=224" or "letterbox=480x640,fill=114".
func parseResize(text string) (job.Resize, error) {
	var r job.Resize
	for part := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch name {
		case "short":
			r.Short, err = pixels(value)
		case "crop":
			r.Crop, err = side(value)
		case "stretch":
			r.Stretch, err = side(value)
		case "letterbox":
			r.Letterbox, err = side(value)
		case "fill":
			r.Fill, err = strconv.ParseFloat(value, 64)
		case "kernel":
			r.Kernel = value
		case "plain":
			r.Plain = true
			given = true
		default:
			return r, fmt.Errorf("--resize has %q, want parts such as short=256, crop=224, stretch=224, "+
				"letterbox=640, fill=114, kernel=bicubic or plain, with commas between them", part)
		}
		if err != nil || !given || value == "" && name != "plain" {
			return r, fmt.Errorf("--resize has %q, want %s=NUMBER, or HEIGHTxWIDTH where it is no square", part, name)
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
