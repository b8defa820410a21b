package discover

import (
	"nero/audit/document"
	"nero/run/job"
)

// CouldNotRun stands for the verdict of an audit that ended with an error.
const CouldNotRun = string(document.CouldNotRun)

// Hypothesis is a symmetry that a model may have, as the claim of a study.
type Hypothesis struct {
	// Claim is a sentence that says which.
	Claim string `json:"claim"`
	// Word is how sure the part is.
	Word Word `json:"says"`
	// Part is the one that found it.
	Part string `json:"part"`
	// Study is the file that it was written to, "" for none.
	Study string `json:"study,omitempty"`
	// Audit is the verdict of an audit of that study, "" as long as nobody made one, and [CouldNotRun] where one ended
	// with an error. Why is the first reason, unless it passed.
	Audit string `json:"audit,omitempty"`
	Why   string `json:"why,omitempty"`
	// Lay lays the claim over the study that was asked about: the group with its elements, and what moves how.
	Lay func(s *job.Study) `json:"-"`
}
