package workload

import (
	"cmp"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/orbit"
)

// around asks for what is read of photos around their crop. A study that leaves it to the program gets what the
// elements reach, and no more is decoded than that. It returns what was asked for, in rows and columns; the data gives
// no more than photos have.
func (w *Workload) around(o Options) (want [2]int, err error) {
	s := w.Study
	d := &s.Data
	want, _ = d.Around()
	crop := d.Resize.Crop
	switch {
	case d.Margin == job.MarginNone:
		d.Margin = "" // said; see unread
		w.silent = true
		return want, nil
	case d.Margin == job.MarginAuto:
		d.Margin = ""
		if len(crop) != 2 || len(s.Group.Window) == 2 && !slices.Equal(s.Group.Window, crop) {
			return want, nil // whole photos are shown, or the study cuts its own window
		}
		if !w.reframes() {
			w.note("no margin is read around the crop: the answers move with the picture, and what would enter at " +
				"the border has nothing to be compared with (data.margin)")
			return want, nil
		}
		if want, err = w.overhang(o); err != nil || want == [2]int{} {
			return want, err
		}
	case want == [2]int{}:
		d.Margin = ""
		return want, nil
	case len(s.Group.Window) == 2 && !slices.Equal(s.Group.Window, crop):
		return want, s.Errorf("group.window", "%v, and with data.margin the window is data.resize.crop, %v; leave "+
			"one of them out", s.Group.Window, crop)
	}
	d.Margin = fmt.Sprintf("%dx%d", want[0], want[1])
	return want, nil
}

// framed makes the crop the window of a study whose samples have a margin.
func (w *Workload) framed(want [2]int) {
	s := w.Study
	i := w.Data.Info()
	if want == [2]int{} {
		return
	}
	if i.Margin == [2]int{} {
		s.Data.Margin = ""
		w.note("no photo has more than the crop of %d x %d pixels: what is read around it is filled in by the border "+
			"rule %s", s.Data.Resize.Crop[1], s.Data.Resize.Crop[0], w.rule())
		return
	}
	s.Data.Margin = fmt.Sprintf("%dx%d", i.Margin[0], i.Margin[1])
	s.Group.Window = slices.Clone(s.Data.Resize.Crop)
	text := fmt.Sprintf("the models see the middle %d x %d of %d x %d pixels (width x height), and what turns and "+
		"shifts bring into it is photo", s.Group.Window[1], s.Group.Window[0], s.Group.Window[1]+2*i.Margin[1],
		s.Group.Window[0]+2*i.Margin[0])
	if i.Short > 0 || want[0] > i.Margin[0] || want[1] > i.Margin[1] {
		text += fmt.Sprintf(" as far as there is some: the elements reach %d pixels beyond, %d of %d photos have "+
			"fewer on some side, and there the border rule %s fills in", max(want[0], want[1]), w.fewer(want),
			w.Data.Len(), w.rule())
	}
	w.note("%s", text)
}

// fewer is how many photos have less around their crop than is asked for.
func (w *Workload) fewer(want [2]int) int {
	i := w.Data.Info()
	if want[0] > i.Margin[0] || want[1] > i.Margin[1] {
		return w.Data.Len() // the data gives what some photo has
	}
	return i.Short
}

// rule is the border rule of the study.
func (w *Workload) rule() string { return cmp.Or(w.Study.Group.Border, string(action.Zero)) }

// unread says where photos go on beyond their crop, elements read there, and the study says nothing of it: numbers of
// studies that were made before stay what they were.
func (w *Workload) unread(o Options) {
	d := w.Study.Data
	i := w.Data.Info()
	if d.Margin != "" || w.silent || i.Room == [2]int{} || len(w.Study.Group.Window) > 0 || w.Study.Group.Mask != "" ||
		!w.reframes() {
		return
	}
	reach, err := w.overhang(o)
	if err != nil {
		return // whoever plans the elements says so
	}
	if got := min(reach[0], i.Room[0]) + min(reach[1], i.Room[1]); got > 0 {
		w.note("the elements read up to %d pixels beyond the crop, which the border rule %s fills in, and %d of %d "+
			"photos go on there: %s (data.margin) reads the photo, and %s says that it is not to",
			max(reach[0], reach[1]), w.rule(), i.Roomy, w.Data.Len(), o.say("margin", "auto", `"auto"`),
			o.say("margin", "none", `"none"`))
	}
}

// reframes reports whether the answers may be compared where other content enters at the border of what a model sees.
func (w *Workload) reframes() bool {
	s := w.Study
	switch {
	case s.Output.Action != "":
		return s.Output.Action == "invariant"
	case len(s.Output.Fields) > 0:
		return false
	}
	k := space.Kind(s.OutputSpace())
	return isScores(k) || isBoxes(space.Spec{Kind: k})
}

// overhang is how many rows and columns beyond the crop the elements of the study read, on the side where that is more.
func (w *Workload) overhang(o Options) (most [2]int, err error) {
	s := w.Study
	if w.group == nil {
		w.usualGroup()
		if err := w.parseGroup(space.Spec{}, o); err != nil {
			return most, err
		}
	}
	h, wd := s.Data.Resize.Crop[0], s.Data.Resize.Crop[1]
	kernel := action.Kernel(cmp.Or(s.Group.Resample, string(action.Bilinear)))
	var in action.Action = action.Trivial{G: w.group}
	// Which elements act exactly is asked of the action on pictures, where a study wants those alone.
	spec := space.SpecOf("input", space.NewImage(1, h, wd))
	if a, err := o.Rules.For(w.group, spec, action.Options{Kernel: kernel}); err == nil {
		in = a
	}
	plan, err := orbit.NewPlan(w.group, w.orbit(), in, action.Trivial{G: w.group}, s.Seed)
	if err != nil {
		return most, s.Errorf("group.orbit", "%v", err)
	}
	for _, g := range plan.Elements {
		rows, cols, err := action.Overhang(w.group, g, h, wd, kernel)
		if err != nil {
			return most, s.Errorf("group.orbit", "%v", err)
		}
		most = [2]int{max(most[0], rows), max(most[1], cols)}
	}
	return most, nil
}
