package job

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"nero/internal/spell"
)

// rules are what a field's tags say about its value.
type rules struct {
	// the key must be there
	required bool
	// a list of one may be written without brackets
	single bool
	// a text may be written as a whole number
	whole bool
	// no two items of a list are equal
	unique bool
	enum   []string
	// more names the list of a program that adds to enum, see [Words]
	more      string
	min, max  limit
	minItems  int
	maxItems  int
	minLength int
	// exclusive limits
	above, below     limit
	restrictedLength bool
}

type limit struct {
	set bool
	at  float64
}

// field is a key of a mapping in a study.
type field struct {
	name  string
	index int
	// a text in place of the mapping is this field
	short bool
	rules rules
}

// fieldsOf lists the keys that a struct of a study has, in the order of its fields.
func fieldsOf(t reflect.Type) []field {
	var fs []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		ru := parseRules(f.Tag.Get("jsonschema"))
		ru.required = ru.required || !strings.Contains(options, "omit")
		ru.more = f.Tag.Get("more")
		ru.single = f.Tag.Get("study") == "single"
		ru.whole = f.Tag.Get("study") == "whole"
		fs = append(fs, field{name: name, index: i, short: f.Tag.Get("study") == "short", rules: ru})
	}
	return fs
}

// parseRules reads a tag. The tags are constants of this package, so a malformed one panics; a test reads them all.
func parseRules(tag string) rules {
	var ru rules
	if tag == "" {
		return ru
	}
	for kv := range strings.SplitSeq(tag, ",") {
		k, v, _ := strings.Cut(kv, "=")
		switch k {
		case "required":
			ru.required = true
		case "uniqueItems":
			ru.unique = true
		case "enum":
			ru.enum = append(ru.enum, v)
		case "minimum":
			ru.min = limit{true, mustNumber(v)}
		case "maximum":
			ru.max = limit{true, mustNumber(v)}
		case "exclusiveMinimum":
			ru.above = limit{true, mustNumber(v)}
		case "exclusiveMaximum":
			ru.below = limit{true, mustNumber(v)}
		case "minItems":
			ru.restrictedLength, ru.minItems = true, int(mustNumber(v))
		case "maxItems":
			ru.restrictedLength, ru.maxItems = true, int(mustNumber(v))
		case "minLength":
			ru.minLength = int(mustNumber(v))
		default:
			panic("job: unknown rule in a tag: " + kv)
		}
	}
	if ru.restrictedLength && ru.maxItems == 0 {
		ru.maxItems = math.MaxInt
	}
	return ru
}

func mustNumber(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("job: a tag with a bad number: " + s)
	}
	return x
}

// text says what is wrong with a text, "" if nothing is. more are words that a program adds.
func (ru rules) text(s string, more Words) string {
	if ru.more != "" {
		ru.enum = more.with(ru)
	}
	if len(s) < ru.minLength {
		return "empty; give it a value or leave the key out"
	}
	if ru.enum == nil || slices.Contains(ru.enum, s) {
		return ""
	}
	msg := fmt.Sprintf("%q is not one of %s", clip(s), strings.Join(ru.enum, ", "))
	if k, ok := spell.Nearest(s, ru.enum); ok {
		msg += fmt.Sprintf("; did you mean %q?", k)
	} else {
		msg += "; choose one of them"
	}
	return msg
}

// number says what is wrong with a number that is written shown, "" if nothing is.
func (ru rules) number(x float64, shown string) string {
	var want []string
	ok := true
	add := func(l limit, holds bool, word string) {
		if l.set {
			want = append(want, word+" "+strconv.FormatFloat(l.at, 'f', -1, 64))
			ok = ok && holds
		}
	}
	add(ru.min, x >= ru.min.at, "at least")
	add(ru.max, x <= ru.max.at, "at most")
	add(ru.above, x > ru.above.at, "above")
	add(ru.below, x < ru.below.at, "below")
	if ok && (ru.enum == nil || slices.Contains(ru.enum, shown)) {
		return ""
	}
	if ru.enum != nil {
		return fmt.Sprintf("%s is not one of %s; choose one of them", shown, strings.Join(ru.enum, ", "))
	}
	return fmt.Sprintf("%s is out of range; expected a number %s", shown, strings.Join(want, " and "))
}

// length says what is wrong with the length of a list, "" if nothing is.
func (ru rules) length(n int) string {
	if !ru.restrictedLength || n >= ru.minItems && n <= ru.maxItems {
		return ""
	}
	switch {
	case ru.minItems == ru.maxItems:
		return fmt.Sprintf("%d items; expected %d", n, ru.minItems)
	case n == 0:
		return "an empty list; give it an item or leave the key out"
	case n < ru.minItems:
		return fmt.Sprintf("%d items; expected at least %d", n, ru.minItems)
	default:
		return fmt.Sprintf("%d items; expected at most %d", n, ru.maxItems)
	}
}
