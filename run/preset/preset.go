// Package preset holds how known networks of photos are fed: to which size photos are brought, and what becomes of
// their values, under the names that people know from the libraries that the networks come from.
package preset

import (
	"fmt"
	"slices"
	"strings"

	"nero/internal/spell"
	"nero/run/job"
)

// Preset is one way to feed photos to a network. What a study says itself goes before it.
type Preset struct {
	// what a study calls it, such as torchvision/resnet50; capital letters count as small ones
	Name string `json:"name"`
	// Also are other names for it, such as that of the only weights there are.
	Also []string `json:"also,omitempty"`
	// Doc says where the values stand.
	Doc string `json:"doc"`
	// Resize brings photos to one size; the zero value leaves them alone.
	Resize job.Resize `json:"resize,omitzero"`
	// order of the model's channels: rgb, bgr, or "" for as in the files
	Channels string `json:"channels,omitempty"`
	// what values are divided by first; 0 for the range of the files, 255 or 65535
	Scale float64 `json:"scale,omitempty"`
	// then subtracted, and then divided by: one number, or one per channel in the order of the model's
	Mean []float64 `json:"mean,omitempty"`
	Std  []float64 `json:"std,omitempty"`
}

// List is presets in the order in which they are listed.
type List []*Preset

// Builtin are those of this package.
func Builtin() List {
	return slices.Concat(statistics(), torchvision(), timm(), keras(), others())
}

// Find is the preset of a name; the error names those that may have been meant.
func (l List) Find(name string) (*Preset, error) {
	var names, near []string
	low := strings.ToLower(name)
	for _, p := range l {
		if strings.ToLower(p.Name) == low || slices.ContainsFunc(p.Also, func(n string) bool {
			return strings.ToLower(n) == low
		}) {
			return p, nil
		}
		names = append(names, p.Name)
		if tail := low[strings.LastIndex(low, "/")+1:]; tail != "" && strings.Contains(strings.ToLower(p.Name), tail) {
			near = append(near, p.Name)
		}
	}
	if len(near) == 0 {
		if n, ok := spell.Nearest(name, names); ok {
			near = []string{n}
		} else if n, ok := l.tail(low); ok {
			near = n
		}
	}
	did := ""
	if len(near) > 0 {
		did = "did you mean " + strings.Join(near[:min(len(near), 4)], ", ") + "? "
	}
	return nil, fmt.Errorf("%q is no preset; %s'nero presets' lists all", name, did)
}

// tail looks for networks that are called nearly so, whatever their library.
func (l List) tail(low string) ([]string, bool) {
	of := map[string][]string{}
	var tails []string
	for _, p := range l {
		parts := strings.Split(strings.ToLower(p.Name), "/")
		t := parts[min(1, len(parts)-1)]
		of[t] = append(of[t], p.Name)
		tails = append(tails, t)
	}
	n, ok := spell.Nearest(low[strings.LastIndex(low, "/")+1:], tails)
	return of[n], ok
}

// Lay fills in what a study leaves open, and says in one sentence what the preset is. Where the data are no photos, it
// fills in what becomes of the values alone.
func (p *Preset) Lay(s *job.Study, photos bool) string {
	d, in := &s.Data, &s.Input
	r := &d.Resize
	framed := r.Short != 0 || len(r.Crop)+len(r.Stretch)+len(r.Letterbox) > 0
	if photos && d.Zoom == 0 && len(d.Fit) == 0 && len(d.Cut.Size) == 0 && p.sized() {
		if !framed {
			r.Short, r.Crop = p.Resize.Short, slices.Clone(p.Resize.Crop)
			r.Stretch, r.Letterbox = slices.Clone(p.Resize.Stretch), slices.Clone(p.Resize.Letterbox)
			if r.Fill == 0 {
				r.Fill = p.Resize.Fill
			}
		}
		if r.Kernel == "" {
			r.Kernel, r.Plain = p.Resize.Kernel, r.Plain || p.Resize.Plain
		}
	}
	if in.Channels == "" {
		in.Channels = p.Channels
	}
	if in.Scale == 0 {
		in.Scale = p.Scale
	}
	if len(in.Mean) == 0 {
		in.Mean = slices.Clone(p.Mean)
	}
	if len(in.Std) == 0 {
		in.Std = slices.Clone(p.Std)
	}
	return fmt.Sprintf("preset %s: %s; what the study says itself goes before it", p.Name, p.Text())
}

// sized tells whether the preset brings photos to one size.
func (p *Preset) sized() bool {
	return len(p.Resize.Crop)+len(p.Resize.Stretch)+len(p.Resize.Letterbox) > 0
}

// Text is what the preset does, in words.
func (p *Preset) Text() string {
	var out []string
	r := p.Resize
	kernel := r.Kernel
	if r.Plain {
		kernel += ", not widened"
	}
	size := func(s []int) string { return fmt.Sprintf("%d x %d", s[0], s[1]) }
	switch {
	case len(r.Crop) > 0:
		out = append(out, fmt.Sprintf("shorter side to %d, middle %s (%s)", r.Short, size(r.Crop), kernel))
	case len(r.Stretch) > 0:
		out = append(out, fmt.Sprintf("stretched to %s (%s)", size(r.Stretch), kernel))
	case len(r.Letterbox) > 0:
		out = append(out, fmt.Sprintf("letterbox of %s, %g around (%s)", size(r.Letterbox), r.Fill, kernel))
	}
	if p.Channels != "" {
		out = append(out, strings.ToUpper(p.Channels))
	}
	if p.Scale == 0 {
		out = append(out, "over the range of the files")
	} else if p.Scale != 1 {
		out = append(out, fmt.Sprintf("over %g", p.Scale))
	}
	if len(p.Mean) > 0 {
		out = append(out, "mean "+numbers(p.Mean))
	}
	if len(p.Std) > 0 {
		out = append(out, "std "+numbers(p.Std))
	}
	if len(p.Mean)+len(p.Std) == 0 && p.Scale == 1 {
		out = append(out, "values as they are")
	}
	return strings.Join(out, ", ")
}

func numbers(v []float64) string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = fmt.Sprintf("%.6g", x)
	}
	return strings.Join(out, " ")
}

// cropped is the shorter side and the crop, both of squares.
func cropped(short, crop int, kernel string) job.Resize {
	return job.Resize{Short: short, Crop: []int{crop, crop}, Kernel: kernel}
}
