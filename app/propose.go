package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/data/dataset"
	"nero/model/onnx"
	"nero/run/job"
	"nero/run/workload"
)

// Proposal is how data would come to a model.
type Proposal struct {
	// Text says what the data is and what was chosen.
	Text string `json:"text"`
	// Study is the study to write, and Command the same as a command.
	Study   string `json:"study"`
	Command string `json:"command"`
}

// Propose looks at data for a model and says with which lines of a study a run would work. The error is that of a run
// that cannot read the data whatever is said.
func (a *App) Propose(ctx context.Context, model, data string) (*Proposal, error) {
	s := &job.Study{Models: []job.Model{{Name: job.NameOf(model), ONNX: model}}, Data: job.Data{Images: data}}
	found, err := dataset.SurveyMasks(data)
	if err != nil {
		return nil, err
	}
	masked := maskedLines{}
	if found != nil {
		masked = linesOf(found, maskChannels(model))
		s.Task, s.Data.Format, s.Data.Targets = "segmentation", found.Format, found.Targets
		s.Data.Masks = masked.masks
	}
	note, err := workload.Propose(ctx, s, a.options(Engine{}))
	if err != nil {
		return nil, err
	}
	p := &Proposal{
		Text:    data + " needs no resize: its samples go to the model as they are",
		Command: fmt.Sprintf("nero run %s --data %s", audit.ShellQuote(model), audit.ShellQuote(data)),
	}
	lines, flags := []string{"images: " + quoted(data)}, ""
	lines = append(lines, masked.data...)
	if r := s.Data.Resize; note != "" && len(r.Crop) == 2 {
		p.Text = note
		lines = append(lines, fmt.Sprintf("resize: {short: %d, crop: [%d, %d]}", r.Short, r.Crop[0], r.Crop[1]))
		flags = fmt.Sprintf(" --resize short=%d,crop=%dx%d", r.Short, r.Crop[0], r.Crop[1])
		if found == nil { // what enters has no truth, and masks read no margin
			lines = append(lines, "margin: auto")
			flags += " --margin auto"
		}
	}
	p.Study = fmt.Sprintf("models: %s\ndata: %s\n", quoted(model), quoted(data))
	if len(lines) > 1 {
		p.Study = fmt.Sprintf("models: %s\ndata: {%s}\n", quoted(model), strings.Join(lines, ", "))
	}
	p.Command += flags
	if found != nil {
		p.Text = masked.text(data, found) + "\n" + p.Text
		p.Study += "task: segmentation\n" + masked.output + "group: D4\n"
		p.Command += " --output mask --group D4"
		if len(masked.data) > 0 || masked.output != "" {
			p.Command = "nero run study.yaml  # where these lines are"
		}
	}
	return p, nil
}

// maskedLines is what a study says of masks.
type maskedLines struct {
	// in data, each a key with its value
	data  []string
	masks job.Masks
	// a line of its own
	output string
	// what is left to look at
	remark string
}

// linesOf proposes how masks are read by a model of so many channels, 0 where that is not known.
func linesOf(f *dataset.Survey, channels int) (l maskedLines) {
	for _, x := range [][2]string{{"format: ", f.Format}, {"targets: ", f.Targets}} {
		if x[1] != "" {
			l.data = append(l.data, x[0]+quoted(x[1]))
		}
	}
	classes := channels
	if channels == 1 { // one object over a threshold
		classes = 2
		l.output = "output: {decode: threshold, threshold: 0.5}\n"
		l.remark = "the model has one channel, which counts as an object above 0.5: say 0 where it answers logits"
	}
	numbers := slices.DeleteFunc(slices.Clone(f.Numbers), func(v int) bool { return v == 255 })
	switch {
	case len(f.Classes) > 0 && (classes == 0 || len(f.Classes) == classes):
	case len(f.Classes) > 0:
		l.remark = fmt.Sprintf("the file names %d classes with the background and the model has %d: give data.classes "+
			"the names of the model's, in the order of its numbers, and data.masks.rest: void", len(f.Classes), classes)
	case len(f.Colors) > 0:
		for _, c := range f.Colors {
			if slices.Equal(c, []int{224, 224, 192}) { // Pascal VOC's border
				l.masks.VoidColors = append(l.masks.VoidColors, c)
			} else {
				l.masks.Colors = append(l.masks.Colors, c)
			}
		}
		l.masks.Rest = "void"
		l.remark = "bring the colors into the order of the model's numbers, which no picture tells"
	case len(numbers) == 1 && len(f.Numbers) == 2 && numbers[0] == 0: // 0 and 255: the reader knows
	case classes > 0 && len(numbers) > 0 && numbers[len(numbers)-1] >= classes:
		l.masks.Values, l.masks.Rest = numbers[:min(len(numbers), classes)], "void"
		why := fmt.Sprintf("the numbers go beyond those of the model, 0 to %d: bring them into the order of the "+
			"model's", classes-1)
		if len(numbers) > classes {
			why += fmt.Sprintf(", and choose the %d that are its classes", classes)
		}
		l.remark = strings.TrimPrefix(l.remark+"; "+why, "; ")
	}
	var m []string
	if v := l.masks.Values; len(v) > 0 {
		m = append(m, "values: "+ints(v))
	}
	for _, x := range []struct {
		key string
		of  [][]int
	}{{"colors", l.masks.Colors}, {"void_colors", l.masks.VoidColors}} {
		if len(x.of) > 0 {
			var c []string
			for _, rgb := range x.of {
				c = append(c, ints(rgb))
			}
			m = append(m, x.key+": ["+strings.Join(c, ", ")+"]")
		}
	}
	if l.masks.Rest != "" {
		m = append(m, "rest: "+l.masks.Rest)
	}
	if len(m) > 0 {
		l.data = append(l.data, "masks: {"+strings.Join(m, ", ")+"}")
	}
	return l
}

// text says what was found.
func (l maskedLines) text(data string, f *dataset.Survey) string {
	what := ""
	switch {
	case f.Targets != "":
		what = fmt.Sprintf("drawn from the objects in %s, of the classes %s", f.Targets, some(f.Classes))
	case len(f.Colors) > 0:
		what = fmt.Sprintf("in PNG files of %d colors", len(f.Colors))
	default:
		what = "in PNG files that hold the numbers " + some(strings.Fields(strings.Trim(fmt.Sprint(f.Numbers), "[]")))
	}
	if f.Looked > 0 && f.Looked < f.Photos {
		what += fmt.Sprintf(" (the first %d were looked at)", f.Looked)
	}
	text := fmt.Sprintf("%s has %d photos with masks, %s", data, f.Photos, what)
	if l.remark != "" {
		text += "; " + l.remark
	}
	return text
}

// some shows the first words of many.
func some(words []string) string {
	const most = 12
	if n := len(words); n > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(words, ", ")
}

func ints(v []int) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }

// maskChannels is how many channels a model answers at every pixel; 0 where that is not known.
func maskChannels(model string) int {
	m, err := onnx.Read(model)
	if err != nil {
		return 0
	}
	sig := m.Signature()
	if len(sig.Outputs) == 0 || !sig.Outputs[0].Ranked {
		return 0
	}
	n := sig.Outputs[0].Sizes()
	if len(n) != 4 {
		return 0
	}
	return max(min(n[1], n[3]), 0)
}

// quoted is a text as YAML in one line has it.
func quoted(s string) string { return strconv.Quote(s) }
