// Package identify turns answers to plain questions about a problem into the symmetries that it should have: factors
// with how sure they are, symmetries that it must not have, and the group that they make together. It is a list of
// rules; each names itself as the reason of what it says.
package identify

// Unknown is the answer of somebody who does not know.
const Unknown = "unknown"

// Choice is one of the answers to a question.
type Choice struct {
	// Name is what is typed and stored.
	Name string `json:"name"`
	// Doc says what it means, for somebody who does not know the word.
	Doc string `json:"doc"`
}

// Question is something that whoever knows the problem can answer without knowing groups.
type Question struct {
	// ID is its key in a file of answers.
	ID string `json:"id"`
	// Ask is the question.
	Ask string `json:"ask"`
	// Choices are the answers; none for a free text, whose form is Form.
	Choices []Choice `json:"choices,omitempty"`
	Form    string   `json:"form,omitempty"`
	// Surely says that the answer cannot be a guess: what the data are and what is answered.
	Surely bool `json:"surely,omitempty"`
	// check reads a free text; the error says what was expected.
	check func(text string) error
	// when says whether the question arises after the answers so far.
	when func(a Answers) bool
}

// Questions are all questions, in the order in which they are asked; no kind of data meets more than fourteen.
func Questions() []Question { return questions() }

// MaxAsked is how many questions anybody is asked at most.
const MaxAsked = 14

var (
	notKnown = Choice{Unknown, "do not know"}
	yes      = Choice{"yes", "yes"}
	no       = Choice{"no", "no"}
)

func questions() []Question {
	return []Question{
		{
			ID: "data", Ask: "What is one sample?", Surely: true, Choices: kindChoices(),
			when: func(Answers) bool { return true },
		},
		{
			ID: "answer", Ask: "What does the model answer for it?", Surely: true, Choices: replyChoices(),
			when: func(Answers) bool { return true },
		},
		{
			ID: "turn", Ask: "Would a sample that is turned be as good a sample?",
			Choices: []Choice{
				{"any", "turned by any angle"},
				{"quarter", "in quarter turns only, as what is drawn on a square grid"},
				{"half", "upside down, but not on its side"},
				{"axis", "in space: about one direction only, such as that of gravity"},
				{"no", "no, it has a direction that matters"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().dim > 0 },
		},
		{
			ID: "range", Ask: "By how many degrees at most to either side, if not all the way round?",
			Form:  "degrees, such as 30, or all",
			check: degrees,
			when:  func(a Answers) bool { return a.kind().dim == 2 && a.is("turn", "any") },
		},
		{
			ID: "mirror", Ask: "Would its mirror image be as good a sample?", Choices: []Choice{yes, no, notKnown},
			when: func(a Answers) bool { return a.kind().dim > 0 },
		},
		{
			ID: "shift", Ask: "Would it be as good a sample somewhere else, or is there a place that everything is " +
				"measured from?",
			Choices: []Choice{
				{"any", "anywhere"},
				{"whole", "moved by whole pixels or voxels"},
				{"cyclic", "what leaves on one side enters on the other: the picture or the box is periodic"},
				{"no", "no, the place matters"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().dim > 0 },
		},
		{
			ID: "scale", Ask: "Would it be as good a sample larger or smaller?", Choices: []Choice{yes, no, notKnown},
			when: func(a Answers) bool { return a.kind().dim > 0 },
		},
		{
			ID: "order", Ask: "Does the order in which its items (rows, points, atoms, nodes) are listed mean " +
				"anything?",
			Choices: []Choice{{"no", "no, they could be listed in any order"}, {"yes", "yes"}, notKnown},
			when:    func(a Answers) bool { return a.kind().rows },
		},
		{
			ID: "start", Ask: "Could the recording begin at another moment?",
			Choices: []Choice{
				{"any", "at any other"}, {"cyclic", "and it repeats: its end joins its beginning"}, no, notKnown,
			},
			when: func(a Answers) bool { return a.kind().time == shifted },
		},
		{
			ID: "backwards", Ask: "Would it be as good a sample played backwards?", Choices: []Choice{
				yes, no,
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().time != timeless },
		},
		{
			ID: "light", Ask: "Would it be as good a sample in another light?",
			Choices: []Choice{
				{"light", "brighter or darker, but the colors matter"},
				{"colors", "and in other colors, too"},
				{"no", "no, the values are measurements"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().colored },
		},
		{
			ID: "conserved", Ask: "Is something conserved, or the same for every observer?",
			Choices: []Choice{
				{"nothing", "nothing that is known"},
				{"momentum", "the total momentum: no place is special"},
				{"angular", "the angular momentum: no direction is special"},
				{"both", "momentum and angular momentum"},
				{"interval", "the interval t² - x² - y² - z² of relativity"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().physical },
		},
		{
			ID: "moves", Ask: "When the input moves in one of these ways, what should the answer do?",
			Choices: []Choice{
				{"stays", "stay as it is"},
				{"along", "move along, as what it describes does"},
				{"renamed", "become another answer by a rule, as left becomes right"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().moves() },
		},
		{
			ID: "exceptions", Ask: "Do you know samples that become something else when they move?",
			Choices: []Choice{
				{"none", "none"},
				{"turned", "turned, as 6 becomes 9"},
				{"mirrored", "mirrored, as a left hand, a molecule's hand or writing"},
				{"both", "both"},
				notKnown,
			},
			when: func(a Answers) bool { return a.kind().dim > 0 },
		},
		{
			ID: "size", Ask: "How large is a sample?",
			Form: "HEIGHTxWIDTH or a number of items, such as 28x28 or 16, " +
				"or unknown", check: size,
			when: func(a Answers) bool {
				return a.kind().dim == 2 || a.is("start", "cyclic") || a.is("data", "set")
			},
		},
	}
}
