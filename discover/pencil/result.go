package pencil

// States of a question, of a level and of a rank.
const (
	// Settled is a rank that is told by a wide gap and that the bootstraps agree on.
	Settled = "settled"
	// Between is a rank of which only bounds are known.
	Between = "between"
	// Undetermined is one of which nothing is known.
	Undetermined = "undetermined"

	// Holds is a direction whose violation is no larger than rounding.
	Holds = "holds"
	// Approximate is one with a small violation that is real.
	Approximate = "approximate"
	// None is one that is like directions that have nothing to do with the function.
	None = "none"
)

// Result is what was found.
type Result struct {
	// Objects and Rows are the inputs and the equations; Unknowns is what is left after the quotients.
	Objects  int `json:"objects"`
	Rows     int `json:"rows"`
	Unknowns int `json:"unknowns"`
	// Joint and Affine repeat what was asked.
	Joint  bool `json:"joint"`
	Affine bool `json:"affine"`
	// Derivative is where derivatives come from, and Step the relative step of differences.
	Derivative string  `json:"derivative"`
	Step       float64 `json:"step,omitempty"`
	// Quotients are taken out before the rank is counted.
	Quotients []Quotient `json:"quotients"`
	// Still are the coordinates that are the same at every input.
	Still []Still `json:"still,omitempty"`
	// Constant are the answers that are the same at every input, and Collinear how many of the others follow from the
	// rest.
	Constant  []int `json:"constant,omitempty"`
	Collinear int   `json:"collinear"`

	// State of the rank, and Why where it is not settled.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	// Dimension is the number of independent families if settled; Low and High are bounds.
	Dimension int `json:"dimension"`
	Low       int `json:"low"`
	High      int `json:"high"`
	// Sigma are the relative violations, the smallest first, as far as they were computed.
	Sigma []float64 `json:"sigma"`
	// Floor is what rounding and noise alone make of σ.
	Floor float64 `json:"floor"`
	// Ratio is that of the first σ that is out to the last that is in, each at least the floor; 0 where none is in.
	Ratio float64 `json:"ratio"`
	// Agree is the share of the Bootstraps with that rank.
	Agree      float64 `json:"agree"`
	Bootstraps int     `json:"bootstraps"`

	// Families are the directions below the limit of candidates, the smallest violation first.
	Families []Family `json:"families"`
	// Algebra is what the accepted families generate; nil where none is accepted.
	Algebra *Algebra `json:"algebra,omitempty"`
}

// Quotient is directions that were taken out.
type Quotient struct {
	// Kind is "unspanned", where the data cannot tell, or "ignored", where the function does not look.
	Kind string `json:"kind"`
	// Block names what it is of.
	Block string `json:"block,omitempty"`
	// Directions are unit vectors of coordinates; the last number of unspanned ones is that of the constant if shifts
	// were
	// asked.
	Directions [][]float64 `json:"directions"`
	// Unknowns is how many of them went.
	Unknowns int `json:"unknowns"`
	// Raw is the same in coordinates of the input, with as many zeros as can be: of unspanned directions the numbers a,
	// and b last, with a·x = b at every point of every input; of ignored ones the changes that the function does not
	// see. It is nil where the fields that move are no coordinates.
	Raw [][]float64 `json:"raw,omitempty"`
}

// Still is a coordinate that is the same at every point of every input, as the direction of gravity often is.
type Still struct {
	Block      string  `json:"block,omitempty"`
	Coordinate int     `json:"coordinate"`
	Value      float64 `json:"value"`
}

// Family is one direction of unknowns.
type Family struct {
	// Sigma is its relative violation and Floor the share of rounding in that.
	Sigma float64 `json:"sigma"`
	Floor float64 `json:"floor"`
	State string  `json:"state"`
	Moves Motion  `json:"moves"`
}

// Motion is a matrix for each block, and for the answers.
type Motion struct {
	// A has for each block rows of k numbers, or k+1 with the shift last.
	A [][][]float64 `json:"a"`
	// B moves the answers: rows of as many numbers as there are answers, and the shift last; nil where they stay.
	B [][]float64 `json:"b,omitempty"`
}
