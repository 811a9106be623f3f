package learning

import (
	"encoding/json"

	"liminal/internal/fault"
)

// Policy is a policy.learning document: the numbers of learning. Its schema has
// their bounds.
type Policy struct {
	Situations SituationNumbers `json:"situations"`
	Gate       GateNumbers      `json:"gate"`
	Skills     SkillNumbers     `json:"skills"`
	Trial      TrialNumbers     `json:"trial"`
	Prune      PruneNumbers     `json:"prune"`
	Training   TrainingNumbers  `json:"training"`
}

// SituationNumbers say how events are grouped into situations.
type SituationNumbers struct {
	Newest        int     `json:"newest"` // events
	Each          int     `json:"each"`   // events of each person, for those of everybody
	People        int     `json:"people"` // whose events one of everybody holds at least
	Least         int     `json:"least"`  // events
	Strength      float64 `json:"strength"`
	Cut           float64 `json:"cut"`
	Assign        float64 `json:"assign"`
	Rounds        int     `json:"rounds"`
	Halves        int     `json:"halves"`
	LanguageShare float64 `json:"language_share"`
}

// GateNumbers say when lessons are applied without asking anybody.
type GateNumbers struct {
	Least int     `json:"least"` // held-out events that a trial needs
	Most  int     `json:"most"`  // that are answered
	Sure  float64 `json:"sure"`  // probability that answers are better
}

// SkillNumbers say when a situation gets an adapter of its own (CLUS-04).
type SkillNumbers struct {
	MinSkillSize int      `json:"min_skill_size"`
	Positive     int      `json:"positive"`
	Days         int      `json:"days"`
	Rank         int      `json:"rank"`
	Layers       []int    `json:"layers"`
	Matrices     []string `json:"matrices"`
	Examples     int      `json:"examples"`
}

// TrialNumbers say how a version of an adapter that a rule applies begins.
type TrialNumbers struct {
	Share int     `json:"share"` // percent of its person's conversations that take it first; 0 or 100: all
	Hours int     `json:"hours"` // then all do
	Worse float64 `json:"worse"` // thumbs down of all thumbs that are more than before, from which it goes back
	Runs  int     `json:"runs"`  // it has had by then at least
}

// PruneNumbers say which adapters are proposed to be disabled, or merged into one
// of a situation like theirs (CLUS-06).
type PruneNumbers struct {
	Days       int     `json:"days"`
	UsedBelow  int64   `json:"used_below"`
	ScoreBelow float64 `json:"score_below"`
	Alike      float64 `json:"alike"` // cosine of two situations from which one adapter may answer for both
}

// TrainingNumbers say when an adapter is trained, and what with (TRAIN-08).
type TrainingNumbers struct {
	Events int     `json:"events"` // answers to imitate since its last training
	Newest int     `json:"newest"` // events that a dataset is made of
	Rank   int     `json:"rank"`   // of a persona, and of a skill whose narrow shape learns nothing
	Sure   float64 `json:"sure"`   // probability of being better, from which a rule applies it
	Keep   int     `json:"keep"`   // days that a dataset is kept when its job has ended
}

// DefaultPolicy has the numbers that ship.
func DefaultPolicy() Policy {
	return Policy{
		Situations: SituationNumbers{
			Newest: 2000, Each: 20, People: 5, Least: 5, Strength: 0.5, Cut: 0.06, Assign: 0.3, Rounds: 6, Halves: 6, LanguageShare: 0.1,
		},
		Gate:   GateNumbers{Least: 4, Most: 12, Sure: 0.9},
		Skills: SkillNumbers{MinSkillSize: 12, Positive: 8, Days: 30, Rank: 4, Layers: []int{0, 1, 2}, Matrices: []string{"attn_q"}, Examples: 3},
		Trial:  TrialNumbers{Share: 50, Hours: 24, Worse: 0.15, Runs: 10},
		Prune:  PruneNumbers{Days: 30, UsedBelow: 5, Alike: 0.85},

		Training: TrainingNumbers{Events: 8, Newest: 2000, Rank: 8, Sure: 0.9, Keep: 7},
	}
}

// ReadPolicy reads a document; what it leaves out is as it ships.
func ReadPolicy(doc json.RawMessage) (Policy, error) {
	p := DefaultPolicy()
	if err := json.Unmarshal(doc, &p); err != nil {
		return DefaultPolicy(), fault.Wrap(fault.Internal, err, "A policy of learning cannot be read.")
	}
	return p, nil
}
