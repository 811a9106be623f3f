package lesson

// Scored is what one held-out event says, without a word of it.
type Scored struct {
	EventID    int64   `json:"event_id"`
	Fit        float64 `json:"fit"`
	Preference float64 `json:"preference"`
}

// Score compares the two answers to one event.
func Score(c Compared) Scored { return Scored{EventID: c.Case.ID, Preference: c.Preference} }

// JudgeScores is Judge of what was scored before.
func JudgeScores(list []Scored, seed uint64) Verdict {
	return Verdict{Outcome: OutcomePerson, Alike: len(list)}
}
