package identify

// What time does in a sample.
const (
	timeless = iota
	// The sample is a recording, which could begin elsewhere.
	shifted
	// Two pictures, one after the other.
	paired
)

// kind is what one sample is: what can move in it, and how a study reads it.
type kind struct {
	name, doc string
	// dim is of the space that it lies in, 0 for none.
	dim int
	// grid says that it is sampled on a grid of pixels or voxels.
	grid bool
	// rows says that it is a list of items.
	rows    bool
	time    int
	colored bool
	// physical says that what is conserved says something about it.
	physical bool
	// format is of data.format in a study, "" where the program sees it by itself; input are lines of the study.
	format, input string
}

// moves says whether anything can move.
func (k kind) moves() bool { return k.dim > 0 || k.rows || k.time != timeless || k.physical }

var kinds = []kind{
	{name: "picture", doc: "a picture", dim: 2, grid: true, colored: true, input: "input: {space: image}\n"},
	{
		name: "video", doc: "a sequence of pictures", dim: 2, grid: true, time: shifted, colored: true,
		input: "input: {space: frames}\n",
	},
	{
		name: "flow", doc: "two pictures of something that moved in between", dim: 2, grid: true, time: paired,
		format: "pairs",
	},
	{
		name: "volume", doc: "a volume of voxels, as a scan is", dim: 3, grid: true, format: "volumes",
		input: "input: {space: volume}\n",
	},
	{
		name: "points", doc: "a cloud of points in space", dim: 3, rows: true, physical: true, format: "clouds",
		input: "input:\n  fields: [{name: points, type: positions}]\n",
	},
	{
		name: "molecule", doc: "atoms with their places", dim: 3, rows: true, physical: true, format: "molecules",
		input: "input:\n  fields:\n    - {name: positions, type: positions}\n    - {name: species, type: unchanged}\n",
	},
	{
		name: "graph", doc: "nodes and edges", rows: true, format: "graphs",
		input: "input:\n  fields: [{name: nodes, type: unchanged}, {name: edges}]\n",
	},
	{
		name: "set", doc: "items that belong together", rows: true, format: "graphs",
		input: "input:\n  fields: [{name: nodes, type: unchanged}]\n",
	},
	{
		name: "signal", doc: "a recording over time, such as sound", time: shifted, format: "signals",
		input: "input: {space: signal}\n",
	},
	{name: "numbers", doc: "a row of numbers, as of a table", physical: true},
	{name: "text", doc: "text"},
	{name: Unknown, doc: "something else"},
}

// reply is what a model answers, and how a study reads that.
type reply struct {
	name, doc string
	// moved says that it lies in the space of the sample and so can move along.
	moved bool
	// output are lines of a study, by the kind of data where that matters.
	output func(k kind) string
}

func same(text string) func(kind) string { return func(kind) string { return text } }

var replies = []reply{
	{name: "class", doc: "one of some classes", output: same("output: {space: scores, action: invariant}\n")},
	{name: "number", doc: "a number, or some, that have no direction", output: func(k kind) string {
		if k.rows {
			return "output:\n  fields: [{name: y, type: unchanged, per: sample}]\n"
		}
		return "output: {space: tensor, action: invariant}\n"
	}},
	{
		name: "vectors", doc: "arrows: a force for each atom, a displacement for each pixel", moved: true,
		output: func(k kind) string {
			if k.rows {
				return "output:\n  fields: [{name: vectors, type: vectors, per: node}]\n"
			}
			if k.time == paired {
				return "task: flow\n"
			}
			return "output: {space: field, action: same}\n"
		},
	},
	{
		name: "items", doc: "a number or class for each item, such as each node", moved: true,
		output: same("output:\n  fields: [{name: y, type: unchanged, per: node}]\n"),
	},
	{
		name: "picture", doc: "another picture of the same scene", moved: true,
		output: same("output: {space: image, action: same}\n"),
	},
	{name: "mask", doc: "a class for each pixel or voxel", moved: true, output: same("task: segmentation\n")},
	{name: "boxes", doc: "boxes around objects", moved: true, output: same("task: detection\n")},
	{
		name: "signal", doc: "another recording over the same time", moved: true,
		output: same("output: {space: signal, action: same}\n"),
	},
	{
		name: "features", doc: "numbers that another model reads on",
		output: same("output: {space: tensor, action: invariant}\n"),
	},
	{name: Unknown, doc: "something else", output: same("")},
}

func kindChoices() (c []Choice) {
	for _, k := range kinds {
		c = append(c, Choice{k.name, k.doc})
	}
	return c
}

func replyChoices() (c []Choice) {
	for _, r := range replies {
		c = append(c, Choice{r.name, r.doc})
	}
	return c
}
