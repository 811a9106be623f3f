package learning

// MetaNoted is the key of a message's meta under which a Noted stands.
const MetaNoted = "noted"

// Noted is what a person's message keeps of the feedback that was heard in it,
// so that they see it and can take it back (PREF-02).
type Noted struct {
	PreferenceID int64  `json:"preference_id"`
	Signal       string `json:"signal"`
	MessageID    string `json:"message_id"` // of the answer it is about
	Undone       bool   `json:"undone"`     // the person took it back
}
