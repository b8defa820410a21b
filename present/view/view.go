// Package view turns what a run measured into pictures that are described and not yet drawn: which points, on which
// scale, with which marks, words and exact numbers. It draws nothing and opens nothing: present/report draws what it
// says, as SVG and as PNG.
//
// The layout follows from the chart of the group, of those in [Layouts]: angles lie on a circle, one other axis on a
// line, shifts in a map, rotations of space on discs or along their angle, permutations in the order of their values,
// and anything else in a strip in the order of the plan.
package view

import (
	"image"

	"nero/run/fold"
	"nero/symmetry/group"
)

// Many is the number of elements above which a strip has no room for bars and names, and shifts with turns become a
// Scatter.
const Many = 150

// Figure is one picture: panels that share a layout, a scale and a legend.
type Figure struct {
	// stable, for file names: letters, digits and hyphens
	Name string `json:"name"`
	// what is shown
	Title string `json:"title"`
	// of what
	Subtitle string `json:"subtitle"`
	// the picture in a sentence
	Alt    string  `json:"alt"`
	Layout *Layout `json:"layout"`
	Metric string  `json:"metric"`
	Unit   string  `json:"unit,omitempty"`
	// higher, lower
	Better string `json:"better"`
	Group  string `json:"group"`
	// chart of the group
	Axes []group.Axis `json:"axes"`
	// of the value
	Scale Scale `json:"scale"`
	// of the horizontal axis of Line and Scatter
	X *Scale `json:"x,omitempty"`
	// of the vertical axis of Scatter, downward
	Y *Scale `json:"y,omitempty"`
	// one per model
	Legend []Key `json:"legend"`
	// what P10 to P90 is, "" if it is not to be drawn
	Spread string `json:"spread"`
	// what Lo to Hi is, "" if it is not to be drawn
	Interval string `json:"interval"`
	// exact elements stand apart from the curve
	Comb bool `json:"comb"`
	// some elements are exact and some are not, so exact ones are marked
	Exact bool `json:"exact"`
	// some series are mirrored
	Mirrored bool `json:"mirrored"`
	// too many elements in a strip for bars
	Dense bool `json:"dense"`
	// few elements with nothing between them: bars and marks say more than a curve
	Discrete bool `json:"discrete"`
	// what has to be said below the picture
	Notes  []string `json:"notes,omitempty"`
	Panels []Panel  `json:"panels"`
}

// Key is an entry of the legend.
type Key struct {
	// the colour and dash of a model follow from its index, in every picture alike
	Model int    `json:"model"`
	Name  string `json:"name"`
}

// Panel is one plot of a figure.
type Panel struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	// samples; 0 for a plot of one sample
	N int `json:"n"`
	// one per model, or two with mirrors; one in a map or Scatter
	Series []Series `json:"series"`
	// one per model
	Stats []Stat `json:"stats"`
	// columns of a map, left to right
	Cols []Cell `json:"xs,omitempty"`
	// rows of a map, top to bottom
	Rows []Cell `json:"ys,omitempty"`
	// Sectors are the parts of a disc; each names a point of the only series, whose X is the direction of the axis in
	// its plane and Y the angle, in degrees.
	Sectors []Sector `json:"sectors,omitempty"`
	// Bins sum up the points of Angle, from 0 to 180 degrees: the median, and the worst value of each part of that
	// range.
	Bins []Bin `json:"bins,omitempty"`
	// X is the scale of the horizontal axis where the panels have different ones.
	X *Scale `json:"x,omitempty"`
	// Picture is the input at the identity, nil if nobody gave one.
	Picture image.Image `json:"-"`
}

// Cell is a column or a row of a map.
type Cell struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// Bin sums up the values of one series at the elements whose angle lies in a part of the range. It is left out where
// there is none.
type Bin struct {
	// index
	Series int         `json:"series"`
	Lo     float64     `json:"lo"`
	Hi     float64     `json:"hi"`
	N      int         `json:"n"`
	Median fold.Number `json:"median"`
	Worst  fold.Number `json:"worst"`
}

// Series is the values of one model in the order in which they are drawn.
type Series struct {
	Model    int    `json:"model"`
	Name     string `json:"name"`
	Mirrored bool   `json:"mirrored,omitempty"`
	// the last point is followed by the first
	Closed bool    `json:"closed,omitempty"`
	Points []Point `json:"points"`
}

// Point is the value at one element.
type Point struct {
	// index into the plan
	Element int `json:"element"`
	// the element for people
	Label string `json:"label"`
	// the element beside an axis, with three significant digits
	Tick string `json:"tick"`
	// angle in degrees, position on the axis, dx, or place in the plan or by rank
	X float64 `json:"x"`
	// dy
	Y float64 `json:"y"`
	// angle of an element of Scatter in degrees
	Turn float64 `json:"turn"`
	// acts without resampling
	Exact bool `json:"exact"`
	// the predicted class is not that of the sample
	Wrong bool `json:"wrong"`
	// finite values
	N int `json:"n"`
	// values that are NaN or infinite, in no mean
	Bad int `json:"bad"`
	// mean over samples, or the value of the sample; NaN where there is none
	Value fold.Number `json:"value"`
	// interval of the mean
	Lo fold.Number `json:"lo"`
	Hi fold.Number `json:"hi"`
	// spread over samples
	P10 fold.Number `json:"p10"`
	P90 fold.Number `json:"p90"`
}

// Stat sums one model up.
type Stat struct {
	Model int    `json:"model"`
	Name  string `json:"name"`
	// value at the identity, NaN if the plan does not visit it
	Identity fold.Number `json:"identity"`
	// mean over the orbit; without interval for one sample
	Orbit fold.Estimate `json:"orbit"`
	// the worst of the drawn values
	Worst fold.Number `json:"worst"`
	// its element, "" if there is none
	At string `json:"at"`
	// its index, -1 if there is none
	Element int `json:"element"`
}
