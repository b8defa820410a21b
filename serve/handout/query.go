package handout

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"nero/serve/guard"
	"nero/serve/shelf"
)

// mostBudget is the largest page that a visitor may ask for, which is held in memory.
const mostBudget = 100_000_000

// FromQuery reads what a visitor asks of the page of a run: metric, by name or by place, slice, budget and seed.
func FromQuery(query url.Values, run *shelf.Run) (Options, error) {
	o := Options{Metric: query.Get("metric"), Slice: query.Get("slice")}
	if k, err := strconv.Atoi(o.Metric); err == nil && k >= 0 && k < len(run.Metrics()) {
		o.Metric = run.Metrics()[k].Name
	}
	var err error
	if text := query.Get("budget"); text != "" {
		if o.Budget, err = ParseSize(text); err != nil {
			return o, bad(err)
		}
		if o.Budget > mostBudget {
			return o, bad(fmt.Errorf("a budget of %s; a server writes reports of at most %d MB", text,
				mostBudget/1_000_000))
		}
	}
	if text := query.Get("seed"); text != "" {
		if o.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return o, bad(err)
		}
	}
	return o, nil
}

// Refused is an error of [Write] as a visitor gets it: what was asked for and cannot be had is the visitor's mistake.
func Refused(err error) error {
	var small *SmallBudgetError
	if errors.Is(err, ErrUnknown) || errors.As(err, &small) {
		return bad(err)
	}
	return err
}

// bad refuses a query.
func bad(err error) error {
	return &guard.Problem{
		Status: http.StatusBadRequest, Code: "query",
		Title: "The report cannot be written like this", Detail: err.Error(),
		Remedy: "metric and slice are names of the run; budget is a size such as 10MB.",
	}
}

// ParseSize reads a size: a number of bytes, kB, MB or GB.
func ParseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), 1.0
	for suffix, factor := range map[string]float64{"kb": 1e3, "mb": 1e6, "gb": 1e9} {
		if at := len(number) - len(suffix); at > 0 && strings.EqualFold(number[at:], suffix) {
			number, unit = strings.TrimSpace(number[:at]), factor
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !(v >= 1 && v <= 1e12) {
		return 0, fmt.Errorf("%q, want a size such as 10MB, 500kB or a number of bytes", text)
	}
	return int64(v), nil
}
