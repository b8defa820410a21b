package metric

import "math"

// The metrics of scene flow, the displacement of every point between two clouds, as they are defined by Liu, Qi and
// Guibas (FlowNet3D, CVPR 2019) and Gu, Wang, Wu, Lee and Wang (HPLFlowNet, CVPR 2019): lengths are in metres, which
// the thresholds suppose, and vectors have three components.
var (
	// EPE3D is the mean length of the error.
	EPE3D = ofScene(Metric{
		Title: "end-point error in space",
		Name:  "epe3d", Unit: "output", OfOutput: "%",
		Doc: "mean over points of |difference| of the displacements; rows of other lengths than 3 have no value",
	}, func(err, _ float64) float64 { return err })
	// Acc3DStrict is the share of the points that are nearly right.
	Acc3DStrict = ofScene(Metric{
		Title: "accuracy in space, strict",
		Name:  "acc3d_strict", Better: Higher, Range: [2]float64{0, 1},
		Doc: "share of the points whose displacement is off by less than 0.05 (metres), or by less than 5 % of its " +
			"length",
	}, within3D(0.05))
	// Acc3DRelax is the share of the points that are roughly right.
	Acc3DRelax = ofScene(Metric{
		Title: "accuracy in space, relaxed",
		Name:  "acc3d_relax", Better: Higher, Range: [2]float64{0, 1},
		Doc: "share of the points whose displacement is off by less than 0.1 (metres), or by less than 10 % of its " +
			"length",
	}, within3D(0.1))
	// Outliers3D is the share of the points that are wrong.
	Outliers3D = ofScene(Metric{
		Title: "outliers in space",
		Name:  "outliers3d", Range: [2]float64{0, 1},
		Doc: "share of the points whose displacement is off by more than 0.3 (metres), or by more than 10 % of its " +
			"length",
	}, func(err, size float64) float64 {
		if err > 0.3 || err > 0.1*size {
			return 1
		}
		return 0
	})
)

// within3D is 1 for errors below a threshold, or below that share of the length.
func within3D(limit float64) func(err, size float64) float64 {
	return func(err, size float64) float64 {
		if err < limit || err < limit*size {
			return 1
		}
		return 0
	}
}

// ofScene makes a metric of displacements: the mean over the points of f of the length of the error and that of the
// reference.
func ofScene(m Metric, f func(err, size float64) float64) *Metric {
	return ofRows(m, rowed[:1], func(d diff) float64 {
		if d.w != 3 {
			return math.NaN()
		}
		sum := 0.0
		for i, err := range d.distances() {
			_, truth := d.row(i)
			sum += f(err, length(truth))
		}
		return sum / float64(d.n)
	})
}

// displacements lists the metrics of scene flow.
func displacements() []*Metric { return []*Metric{EPE3D, Acc3DStrict, Acc3DRelax, Outliers3D} }
