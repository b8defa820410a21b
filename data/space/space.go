// Package space holds the typed values that groups act on and models read and return: images, sequences of them, masks,
// scores, boxes, vector fields, feature maps, points and graphs, signals.
//
// A value knows what kind of thing it is, never what a group does to it: that is the business of package action, which
// chooses an action by (group, space). A new space is a new type here and a new rule there; nothing between them
// changes.
package space

import (
	"errors"

	"nero/data/tensor"
)

// ErrNotFinite marks data that hold NaN or infinities. Readers wrap it.
var ErrNotFinite = errors.New("not finite")

// Kind names a space.
type Kind string

// The spaces. Kinds that have no type in this package yet are not listed.
const (
	KindImage  Kind = "image"  // intensities on a pixel grid, one or more channels
	KindMask   Kind = "mask"   // class labels on a pixel grid: never averaged
	KindScores Kind = "scores" // one number per class: logits, probabilities
	KindTensor Kind = "tensor" // a feature map or vector whose channels carry a representation
	KindBoxes  Kind = "boxes"  // a set of labelled boxes with scores
	KindField  Kind = "field"  // a vector at every pixel
	KindFrames Kind = "frames" // pictures of one size in the order of time
	KindRows   Kind = "rows"   // rows of numbers: points, vectors, features of nodes or edges
	KindLinks  Kind = "links"  // edges between the nodes of a graph, by number
	KindPairs  Kind = "pairs"  // numbers for every pair of nodes
	KindSignal Kind = "signal" // channels of numbers in the order of time
	KindRecord Kind = "record" // several of the above that move together
)

// What the numbers of a row are, the values of [Spec.Type] for rows and pairs. Besides them there are irreps as e3nn
// writes them, such as "4x0e+2x1o".
const (
	// stays as it is: energies, charges, class scores; a claim that the user makes by name
	TypeUnchanged     = "unchanged"
	TypePositions     = "positions"     // points of space: g·p = A p + t
	TypeVectors       = "vectors"       // directions: velocities, forces, edge vectors, lattice vectors; A v
	TypePseudovectors = "pseudovectors" // axial vectors: angular momenta, magnetic moments; det(A) A v
	TypePseudoscalars = "pseudoscalars" // det(A) s
	TypeTensors       = "tensors"       // stress, inertia: d x d numbers in rows; A S Aᵀ
	TypePoses         = "poses"         // d x d rotation matrices in rows; A P
	TypeQuaternions   = "quaternions"   // w, x, y, z of rotations; q(A) q
	TypeBoxes         = "boxes"         // x, y, z, length, width, height, yaw about z: boxes in 3D
)

// The values of [Spec.Per]: what a row belongs to, and so whether permutations of the nodes move it.
const (
	PerNode   = "node"
	PerEdge   = "edge" // of the field of kind [KindLinks]
	PerSample = "sample"
)

// Spec describes the values of one port.
type Spec struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// of one sample, without the batch axis; -1 admits any length
	Shape []int  `json:"shape,omitempty"`
	Unit  string `json:"unit,omitempty"`
	// Type refines the kind: for scores "logits" or "probabilities"; for tensors the representation that the channels
	// carry, "trivial" or "regular"; for rows and pairs what the numbers are, see [TypePositions] ("" means not
	// declared).
	Type string `json:"type,omitempty"`
	// Per says what a row belongs to: [PerNode] (the default), [PerEdge] or [PerSample].
	Per string `json:"per,omitempty"`
	// Fields are the specs of the fields of a record, in their order.
	Fields []Spec `json:"fields,omitempty"`
}

// Value is one typed datum: an image, the scores of one prediction.
type Value interface {
	Kind() Kind
	// Parts are the arrays that the value consists of: what is stored, sent and hashed. They are copies.
	Parts() []tensor.Named
}

// Image is a picture of W columns, H rows and C channels.
//
// Pixel (row r, column c) of channel k is Pix[(k*H+r)*W+c] (planar). Pixel centres lie at the integers 0..W-1 and
// 0..H-1. Intensities keep the unit of the file (0..255 for 8-bit images); scaling to what a model reads happens in
// package decode.
type Image struct {
	C, H, W int
	Pix     []float64
}

// NewImage makes an image of zeros.
func NewImage(c, h, w int) *Image { return &Image{C: c, H: h, W: w, Pix: make([]float64, c*h*w)} }

// Kind is [KindImage].
func (*Image) Kind() Kind { return KindImage }

// Parts is one float64 array of shape (C, H, W), a copy.
func (m *Image) Parts() []tensor.Named { return []tensor.Named{part("pixels", m.Pix, m.C, m.H, m.W)} }

// Plane is channel k, H*W values that share the image's memory.
func (m *Image) Plane(k int) []float64 { return m.Pix[k*m.H*m.W : (k+1)*m.H*m.W] }

// Mask is a label per pixel, row-major: Label[r*W+c].
type Mask struct {
	H, W  int
	Label []int32
}

// Kind is [KindMask].
func (*Mask) Kind() Kind { return KindMask }

// Parts is one int32 array of shape (H, W), a copy.
func (m *Mask) Parts() []tensor.Named {
	t := tensor.New(tensor.Int32, m.H, m.W)
	for i, v := range m.Label {
		putUint32(t.Raw[4*i:], uint32(v))
	}
	return []tensor.Named{{Name: "labels", Tensor: t}}
}

// Scores is one number per class.
type Scores struct {
	Val []float64
	// Raw are the model's own numbers where Val was derived from them (softmax), nil where Val is what the model
	// returned. Errors are measured on them: a saturated softmax would hide a change.
	Raw []float64
	// Probabilities tells normalised scores (each in [0,1], sum 1) from logits.
	Probabilities bool
}

// Kind is [KindScores].
func (*Scores) Kind() Kind { return KindScores }

// Output is what the model returned: Raw where it is kept, else Val. It shares memory.
func (s *Scores) Output() []float64 {
	if s.Raw != nil {
		return s.Raw
	}
	return s.Val
}

// Parts is one float64 array of shape (classes), a copy.
func (s *Scores) Parts() []tensor.Named { return []tensor.Named{part("scores", s.Val, len(s.Val))} }

// Tensor is any array of one sample, row-major. A feature map has shape (C, H, W), a feature vector (C).
type Tensor struct {
	Shape []int
	Val   []float64
}

// Kind is [KindTensor].
func (*Tensor) Kind() Kind { return KindTensor }

// Parts is one float64 array of the tensor's shape, a copy.
func (t *Tensor) Parts() []tensor.Named { return []tensor.Named{part("values", t.Val, t.Shape...)} }
