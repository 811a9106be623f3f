package lesson

import (
	"math"
	"math/rand/v2"

	"liminal/internal/learning"
)

// Outcome is what a gate decides.
type Outcome string

// The outcomes of a gate.
const (
	OutcomeRule   Outcome = "rule"   // better, and not by chance: may be applied by rule
	OutcomePerson Outcome = "person" // perhaps better, or too little to tell: a person decides
	OutcomeNone   Outcome = "none"   // not better: not applied
)

// The numbers of the gate.
const (
	resamples = 1000
	surely    = 0.9  // share of resamples that must be better
	within    = 0.02 // what two answers may differ in and be alike
	proof     = 4    // events below which there is nothing to tell
)

// Compared is one held-out event, answered without and with the lessons.
type Compared struct {
	Case    learning.Case
	Without string
	With    string
	// Preference is what a judging model says in both orders: from -1 (without)
	// to 1 (with); it counts only where Judged is true.
	Preference float64
	Judged     bool
}

// Scored is what one held-out event says, without a word of it.
type Scored struct {
	EventID    int64   `json:"event_id"`
	FitWithout float64 `json:"fit_without"` // how well the answer fits, 0 to 1
	FitWith    float64 `json:"fit_with"`
	Nearer     float64 `json:"nearer"` // 1: the answer with them is nearer to what is liked, 0: the other, ½: neither; with a judging model's word in it
}

// Verdict is what held-out events say.
type Verdict struct {
	Outcome   Outcome `json:"outcome"`
	Fit       float64 `json:"fit"`       // what the lessons add to how well answers fit, -1 to 1
	Alignment float64 `json:"alignment"` // how often the answer with them is nearer to what is liked, 0 to 1
	P         float64 `json:"p"`         // share of resamples in which both are better
	Better    int     `json:"better"`
	Worse     int     `json:"worse"`
	Alike     int     `json:"alike"`
}

// Score says how well both answers to a held-out event fit what the person said
// of the answer they had got.
func Score(c Compared) Scored {
	s := Scored{EventID: c.Case.ID, FitWithout: fit(c.Without, c.Case), FitWith: fit(c.With, c.Case), Nearer: 0.5}
	switch lead := nearness(c.With, c.Case) - nearness(c.Without, c.Case); {
	case lead > within:
		s.Nearer = 1
	case lead < -within:
		s.Nearer = 0
	}
	if c.Judged {
		s.Nearer = (s.Nearer + (1+max(-1, min(1, c.Preference)))/2) / 2
	}
	return s
}

// fit is the mean of what can be told: how near an answer is to what the person
// wanted, whether it keeps what the note asks for, and, of a disliked one of
// which nothing else is known, how unlike it is in shape.
func fit(answer string, c learning.Case) float64 {
	sum, n := 0.0, 0.0
	if want := wantedText(c); want != "" {
		sum, n = sum+similar(answer, want), n+1
	}
	for _, w := range heard(c.Notes(), c.Score > 0) {
		n++
		if w.keeps(answer, c.Answer, c.Score > 0) {
			sum++
		}
	}
	if n == 0 {
		return 1 - shapeOf(answer).alike(shapeOf(c.Answer))
	}
	return sum / n
}

// nearness is how near an answer is to what the person wanted: to the correction
// or the liked answer; else by what the note asks for; else by how unlike the
// disliked one it is. It is compared between answers to one event only.
func nearness(answer string, c learning.Case) float64 {
	if want := wantedText(c); want != "" {
		return similar(answer, want)
	}
	if asked := heard(c.Notes(), false); len(asked) > 0 {
		return fit(answer, c)
	}
	return -similar(answer, c.Answer)
}

// similar is how much two texts have in common, in words and in shape, 0 to 1.
func similar(a, b string) float64 { return (rouge(a, b) + shapeOf(a).alike(shapeOf(b))) / 2 }

// Judge is JudgeScores of what Score says.
func Judge(list []Compared, seed uint64) Verdict {
	scores := make([]Scored, len(list))
	for i, c := range list {
		scores[i] = Score(c)
	}
	return JudgeScores(scores, seed)
}

// JudgeScores decides by both figures: fit must be higher, and alignment beyond a
// half. They are better by rule if they are in 9 of 10 resamples of the events;
// the same events and seed give the same verdict. Of fewer than 4 a person
// decides, unless both are worse.
func JudgeScores(list []Scored, seed uint64) Verdict {
	var v Verdict
	for _, s := range list {
		switch sum := signOf(s.FitWith-s.FitWithout, within) + signOf(s.Nearer-0.5, within); {
		case sum > 0:
			v.Better++
		case sum < 0:
			v.Worse++
		default:
			v.Alike++
		}
	}
	v.Fit, v.Alignment = means(list, func(i int) int { return i })
	draw := rand.New(rand.NewPCG(seed, uint64(len(list))))
	better := 0
	for range resamples {
		fit, alignment := means(list, func(int) int { return draw.IntN(len(list)) })
		if fit > 0 && alignment > 0.5 {
			better++
		}
	}
	v.P = float64(better) / resamples
	switch enough, up := len(list) >= proof, v.Fit > 0 && v.Alignment > 0.5; {
	case enough && up && v.P >= surely:
		v.Outcome = OutcomeRule
	case enough && up, !enough && (v.Fit >= 0 || v.Alignment >= 0.5):
		v.Outcome = OutcomePerson
	default:
		v.Outcome = OutcomeNone
	}
	return v
}

// means are those of both figures over as many events as there are, chosen by at.
func means(list []Scored, at func(i int) int) (fit, alignment float64) {
	if len(list) == 0 {
		return 0, 0.5
	}
	for i := range list {
		s := list[at(i)]
		fit += s.FitWith - s.FitWithout
		alignment += s.Nearer
	}
	return fit / float64(len(list)), alignment / float64(len(list))
}

func signOf(x, dead float64) int {
	if math.Abs(x) <= dead {
		return 0
	}
	return int(math.Copysign(1, x))
}
