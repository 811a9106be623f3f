package run

// Answer is what a person says to a question (INT-07, INT-32). The API hands
// it to the engine, which checks it against the pending interrupt.
type Answer struct {
	Type   string // doc_choice, text_input, action_choice, retrieval_low, …; empty: not checked
	Value  any    // JSON-ready; nil is null
	Cancel bool   // the person skipped the question: the run goes on with null (INT-09)
}
