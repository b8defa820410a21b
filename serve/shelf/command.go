package shelf

import (
	"strconv"
	"strings"

	"nero/run/job"
)

// command is what repeats a run, with the names of files and not where they lie.
func command(j *job.Job) string {
	return strings.Join(append([]string{"nero", "run"}, flags(j)...), " ")
}

// audits is what audits the models of a run on its data; FOLDER is where the audit goes.
func audits(j *job.Job) string {
	words := append([]string{"nero", "audit"}, flags(j)...)
	return strings.Join(append(words, "--format", "json", "--out", "FOLDER"), " ")
}

// replay is what repeats a sample of a run under one model; ELEMENT stands for the coordinates.
func replay(j *job.Job, model int, sample string) string {
	words := append([]string{"nero", "audit"}, flags(j)...)
	if model < len(j.Models) && len(j.Models) > 1 {
		words = append(words, "--only", quote(j.Models[model].Name))
	}
	return strings.Join(append(words, "--replay", quote(sample)+"@ELEMENT"), " ")
}

// flags say what the study says, as far as it is not the default.
func flags(j *job.Job) []string {
	s := &j.Study
	plain := &job.Study{Group: job.Group{Name: s.Group.Name}, Output: job.Output{Space: s.Output.Space}}
	job.Defaults(plain)
	var w []string
	add := func(flag, v, def string) {
		if v != "" && v != def {
			w = append(w, "--"+flag, quote(v))
		}
	}
	for _, m := range s.Models {
		file := base(m.ONNX)
		if !m.IsFile() {
			file = m.Text()
		}
		if m.Name != "" && m.Name != job.NameOf(file) {
			file = m.Name + "=" + file
		}
		add("model", file, "")
	}
	add("data", base(s.Data.Images), "")
	add("views", base(s.Data.Views), "")
	if s.Data.Labels == "none" {
		add("labels", "none", "")
	} else {
		add("labels", base(s.Data.Labels), "")
	}
	add("data-format", s.Data.Format, "")
	add("pattern", s.Data.Pattern, "")
	add("key", s.Data.Key, "")
	add("label-key", s.Data.LabelKey, "")
	add("array-layout", s.Data.Layout, "")
	if s.Data.Limit > 0 {
		add("limit", strconv.Itoa(s.Data.Limit), "")
	}
	if s.Data.Balance != "" {
		w = append(w, "--balance")
	}
	if s.Data.Seed != 0 {
		add("data-seed", strconv.FormatUint(s.Data.Seed, 10), "")
	}
	add("layout", s.Input.Layout, plain.Input.Layout)
	add("channels", s.Input.Channels, plain.Input.Channels)
	if s.Input.Scale != 0 {
		add("scale", number(s.Input.Scale), "1")
	}
	add("mean", joined(s.Input.Mean), "")
	add("std", joined(s.Input.Std), "")
	add("output-name", s.Output.Name, "")
	add("output", s.Output.Space, "scores")
	add("decode", s.Output.Decode, plain.Output.Decode)
	switch s.Output.Action {
	case "invariant":
		w = append(w, "--invariant")
	case "same":
		w = append(w, "--equivariant")
	}
	add("group", s.Group.Name, "")
	add("orbit", orbitFlag(s.Group.Orbit), "")
	add("range", rangeFlag(s.Group.Orbit.Range), "")
	if n := s.Group.Orbit.Every; n > 1 {
		w = append(w, "--every", strconv.Itoa(n))
	}
	add("resample", s.Group.Resample, plain.Group.Resample)
	add("border", s.Group.Border, plain.Group.Border)
	add("mask", s.Group.Mask, "")
	if len(s.Group.Window) == 2 {
		add("window", strconv.Itoa(s.Group.Window[0])+","+strconv.Itoa(s.Group.Window[1]), "")
	}
	add("metrics", strings.Join(j.Metrics, ","), "")
	if s.Seed != 0 {
		add("seed", strconv.FormatUint(s.Seed, 10), "")
	}
	return w
}

func orbitFlag(o job.Orbit) string {
	switch {
	case o.All:
		return "all"
	case o.Lattice:
		return "lattice"
	case o.Haar > 0:
		return "haar:" + strconv.Itoa(o.Haar)
	case o.LowDiscrepancy > 0:
		return "even:" + strconv.Itoa(o.LowDiscrepancy)
	case len(o.Values) > 0:
		all := make([]string, len(o.Values))
		for i, v := range o.Values {
			all[i] = joined(v)
		}
		return strings.Join(all, ";")
	}
	n := make([]string, len(o.Grid))
	for i, v := range o.Grid {
		n[i] = strconv.Itoa(v)
	}
	return strings.Join(n, "x")
}

func rangeFlag(r [][]float64) string {
	all := make([]string, 0, len(r))
	for _, v := range r {
		if len(v) == 2 {
			all = append(all, number(v[0])+":"+number(v[1]))
		}
	}
	return strings.Join(all, ",")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func joined(v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = number(x)
	}
	return strings.Join(s, ",")
}

// quote makes a text one word of a POSIX shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./,:=@+%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
