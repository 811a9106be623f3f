package tool

// Redaction says that a part of an answer is not what the model said
// (SAFE-03).
type Redaction struct {
	Policy string `json:"policy"` // the rules that were followed
	Rule   string `json:"rule"`
	Reason string `json:"reason"` // what was removed, in a few words
	Text   string `json:"text"`   // what stands in its place
	Whole  bool   `json:"whole,omitempty"`
}
