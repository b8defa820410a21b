// Package view turns what a run measured into pictures that are described and not yet drawn: which points, on which scale,
// with which marks, words and exact numbers. It draws nothing and opens nothing, so that a page, a terminal and a browser can
// draw the same picture.
//
// The layout follows from the chart of the group: angles lie on a circle, one other axis on a line, shifts in a map, rotations of space on discs or along
// their angle, permutations in the order of their values, and anything else in a strip in the order of the plan.
package view

import (
	"image"

	"nero/run/fold"
	"nero/symmetry/group"
)

// Layout says how the elements of an orbit are laid out.
type Layout string

// The layouts.
const (
	// Polar puts the angle on a circle, 0 to the right, counter-clockwise; the radius is the value.
	Polar Layout = "polar"
	// Line puts the one axis of the chart to the right and the value upward.
	Line Layout = "line"
	// HeatMap puts dx to the right and dy down; the colour is the value.
	HeatMap Layout = "heatmap"
	// Scatter puts dx to the right and dy down, wherever elements lie, apart for mirrored ones; the colour is the value.
	Scatter Layout = "scatter"
	// Strip puts the elements side by side in the order of the plan; the value goes upward.
	Strip Layout = "strip"
	// Discs cut the rotations about axes in the planes xy, xz and yz into ring sectors: the angle is that of the axis in its plane, the radius the
	// angle of the rotation, the middle the identity; the colour is the value.
	Discs Layout = "discs"
	// Angle puts the angle of the rotation to the right, 0 to 180 degrees, and the value upward; improper elements apart.
	Angle Layout = "angle"
	// Ranked puts the elements side by side from the worst value to the best; the value goes upward.
	Ranked Layout = "ranked"
	// Axes is a line for each axis of the chart that elements move along, with the others at rest.
	Axes Layout = "axes"
)

// Colored reports whether values are colours, so that every model has a plot of its own.
func (l Layout) Colored() bool { return l == HeatMap || l == Scatter || l == Discs }

// Many is the number of elements above which a strip has no room for bars and names, and shifts with turns become a Scatter.
const Many = 150

// Figure is one picture: panels that share a layout, a scale and a legend.
type Figure struct {
	Name     string       `json:"name"`     // stable, for file names: letters, digits and hyphens
	Title    string       `json:"title"`    // what is shown
	Subtitle string       `json:"subtitle"` // of what
	Alt      string       `json:"alt"`      // the picture in a sentence
	Layout   Layout       `json:"layout"`
	Metric   string       `json:"metric"`
	Unit     string       `json:"unit,omitempty"`
	Better   string       `json:"better"` // higher, lower
	Group    string       `json:"group"`
	Axes     []group.Axis `json:"axes"`            // chart of the group
	Scale    Scale        `json:"scale"`           // of the value
	X        *Scale       `json:"x,omitempty"`     // of the horizontal axis of Line and Scatter
	Y        *Scale       `json:"y,omitempty"`     // of the vertical axis of Scatter, downward
	Legend   []Key        `json:"legend"`          // one per model
	Spread   string       `json:"spread"`          // what P10 to P90 is, "" if it is not to be drawn
	Interval string       `json:"interval"`        // what Lo to Hi is, "" if it is not to be drawn
	Comb     bool         `json:"comb"`            // exact elements stand apart from the curve
	Exact    bool         `json:"exact"`           // some elements are exact and some are not, so exact ones are marked
	Mirrored bool         `json:"mirrored"`        // some series are mirrored
	Dense    bool         `json:"dense"`           // too many elements in a strip for bars
	Discrete bool         `json:"discrete"`        // few elements with nothing between them: bars and marks say more than a curve
	Notes    []string     `json:"notes,omitempty"` // what has to be said below the picture
	Panels   []Panel      `json:"panels"`
}

// Key is an entry of the legend.
type Key struct {
	Model int    `json:"model"` // the colour and dash of a model follow from its index, in every picture alike
	Name  string `json:"name"`
}

// Panel is one plot of a figure.
type Panel struct {
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"`
	N      int      `json:"n"`            // samples; 0 for a plot of one sample
	Series []Series `json:"series"`       // one per model, or two with mirrors; one in a map or Scatter
	Stats  []Stat   `json:"stats"`        // one per model
	Cols   []Cell   `json:"xs,omitempty"` // columns of a map, left to right
	Rows   []Cell   `json:"ys,omitempty"` // rows of a map, top to bottom
	// Sectors are the parts of a disc; each names a point of the only series, whose X is the direction of the axis in its plane and Y the angle, in degrees.
	Sectors []Sector `json:"sectors,omitempty"`
	// Bins sum up the points of Angle, from 0 to 180 degrees: the median, and the worst value of each part of that range.
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

// Bin sums up the values of one series at the elements whose angle lies in a part of the range. It is left out where there is none.
type Bin struct {
	Series int         `json:"series"` // index
	Lo     float64     `json:"lo"`
	Hi     float64     `json:"hi"`
	N      int         `json:"n"`
	Median fold.Number `json:"median"`
	Worst  fold.Number `json:"worst"`
}

// Series is the values of one model in the order in which they are drawn.
type Series struct {
	Model    int     `json:"model"`
	Name     string  `json:"name"`
	Mirrored bool    `json:"mirrored,omitempty"`
	Closed   bool    `json:"closed,omitempty"` // the last point is followed by the first
	Points   []Point `json:"points"`
}

// Point is the value at one element.
type Point struct {
	Element int         `json:"element"` // index into the plan
	Label   string      `json:"label"`   // the element for people
	Tick    string      `json:"tick"`    // the element beside an axis, with three significant digits
	X       float64     `json:"x"`       // angle in degrees, position on the axis, dx, or place in the plan or by rank
	Y       float64     `json:"y"`       // dy
	Turn    float64     `json:"turn"`    // angle of an element of Scatter in degrees
	Exact   bool        `json:"exact"`   // acts without resampling
	Wrong   bool        `json:"wrong"`   // the predicted class is not that of the sample
	N       int         `json:"n"`       // finite values
	Bad     int         `json:"bad"`     // values that are NaN or infinite, in no mean
	Value   fold.Number `json:"value"`   // mean over samples, or the value of the sample; NaN where there is none
	Lo      fold.Number `json:"lo"`      // interval of the mean
	Hi      fold.Number `json:"hi"`
	P10     fold.Number `json:"p10"` // spread over samples
	P90     fold.Number `json:"p90"`
}

// Stat sums one model up.
type Stat struct {
	Model    int           `json:"model"`
	Name     string        `json:"name"`
	Identity fold.Number   `json:"identity"` // value at the identity, NaN if the plan does not visit it
	Orbit    fold.Estimate `json:"orbit"`    // mean over the orbit; without interval for one sample
	Worst    fold.Number   `json:"worst"`    // the worst of the drawn values
	At       string        `json:"at"`       // its element, "" if there is none
	Element  int           `json:"element"`  // its index, -1 if there is none
}
