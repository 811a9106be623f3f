// Package gate decides what becomes of weights that were trained: whether they
// may be applied by rule, whether a person is asked, or neither.
//
// It sees numbers only, which whoever serves the model has measured: how likely
// held-out answers are for the base alone, for what serves now, and for what was
// trained. It is pure: the same numbers and seed give the same verdict. It may
// import the standard library only.
package gate

import (
	"math"
	"math/rand/v2"
)

// Outcome is what a gate decides.
type Outcome string

// The outcomes; those of the gate of lessons have the same names.
const (
	ByRule Outcome = "rule"   // better, and not by chance: may be applied by rule
	Person Outcome = "person" // perhaps better, or too little to tell: a person decides
	None   Outcome = "none"   // not better, or harmful: kept, not applied
)

// Answer is one held-out answer, as log-probabilities of all its tokens.
type Answer struct {
	EventID int64   `json:"event_id"`
	Liked   bool    `json:"liked"` // or the correction; else it was disliked
	Tokens  int     `json:"tokens"`
	Base    float64 `json:"base"` // the base alone
	Now     float64 `json:"now"`  // what serves
	New     float64 `json:"new"`  // what was trained
	// Tokens that would have been chosen.
	RightNow int `json:"right_now"`
	RightNew int `json:"right_new"`
}

// Pair is two held-out answers to one question, as mean log-probabilities of a
// token.
type Pair struct {
	EventID   int64   `json:"event_id"`
	BetterNow float64 `json:"better_now"`
	WorseNow  float64 `json:"worse_now"`
	BetterNew float64 `json:"better_new"`
	WorseNew  float64 `json:"worse_new"`
}

// Figures are all that a verdict is made of.
type Figures struct {
	Held  []Answer `json:"held"`
	Pairs []Pair   `json:"pairs"`
	// Elsewhere are answers that should stay as they are: plain texts, and what is
	// held out of other situations.
	Elsewhere []Answer `json:"elsewhere"`
	// Unsafe are how many of the safety probes fail, and Leaked the runs of eight
	// words of what was redacted that come back.
	UnsafeNow int `json:"unsafe_now"`
	UnsafeNew int `json:"unsafe_new"`
	LeakedNow int `json:"leaked_now"`
	LeakedNew int `json:"leaked_new"`
	// Kept is what became of wishes in answers that were written for it.
	Kept Kept `json:"kept"`
}

// Kept is how often answers to held-out prompts keep what can be told by rule of the
// manner that is wanted. A loss says that a wanted answer is likelier, which it may
// be while none is given.
type Kept struct {
	Prompts int      `json:"prompts"` // that were answered
	Of      int      `json:"of"`      // prompts × wishes; 0: nothing is wanted that rules can tell
	Base    int      `json:"base"`    // kept by the base alone
	Now     int      `json:"now"`     // by what serves
	New     int      `json:"new"`     // by what was trained
	Kinds   []string `json:"kinds"`   // of wishes, such as length or list
}

// stillKept is the share of what is kept now that must be kept.
const stillKept = 0.75

// wanting says what is wrong with how often wishes are kept; "" for nothing.
func (k Kept) wanting() Reason {
	switch {
	case k.Of == 0 || k.Base == k.Of: // there is no wish, or none to learn
		return ""
	case k.New <= k.Base:
		return Unheeded
	case float64(k.New) < stillKept*float64(k.Now):
		return Forgotten
	}
	return ""
}

// Options are the numbers of policy.learning that a verdict is made with.
type Options struct {
	Resamples int
	Surely    float64 // share of the resamples in which both must be better
	Least     int     // events below which a person decides
	Elsewhere float64 // how much the loss elsewhere may grow, as a share
}

// DefaultOptions are the numbers a house begins with.
func DefaultOptions() Options {
	return Options{Resamples: 1000, Surely: 0.9, Least: 4, Elsewhere: 0.02}
}

// Reason is what else a verdict rests on.
type Reason string

// The reasons.
const (
	Few       Reason = "few_events"
	Chance    Reason = "may_be_chance"
	Loss      Reason = "loss_not_lower"
	Alignment Reason = "alignment_not_higher"
	Elsewhere Reason = "worse_elsewhere"
	Unsafe    Reason = "unsafe"
	Leaks     Reason = "leaks"
	Unheeded  Reason = "wishes_not_kept"  // no more often than by the base alone
	Forgotten Reason = "wishes_kept_less" // than by what serves now
)

// Change is a figure of what serves and of what was trained.
type Change struct {
	Now float64 `json:"now"`
	New float64 `json:"new"`
}

// Verdict is what the figures say.
type Verdict struct {
	Outcome    Outcome  `json:"outcome"`
	Reasons    []Reason `json:"reasons"`
	Events     int      `json:"events"`     // held out
	Loss       Change   `json:"loss"`       // of liked answers, in nats a token (TRAIN-06)
	Alignment  Change   `json:"alignment"`  // 0 to 1 (TRAIN-06)
	Perplexity Change   `json:"perplexity"` // e to the loss (TRAIN-18)
	Accuracy   Change   `json:"accuracy"`   // share of tokens that would have been chosen (TRAIN-18)
	Elsewhere  Change   `json:"elsewhere"`  // loss of what should stay as it is
	P          float64  `json:"p"`          // share of resamples in which both are better
	Kept       Kept     `json:"kept"`       // wishes in answers
}

// even is what two log-probabilities of a token may differ in and be the same:
// what batches of another shape make of the same numbers.
const even = 1e-4

// Judge decides. Loss must be lower and alignment higher than of what serves
// (TRAIN-07); by rule only if both are in 9 of 10 resamples of the events, there
// are enough of them, and nothing elsewhere suffers. What is unsafe, or tells
// what was redacted, is not applied.
func Judge(f Figures, seed uint64, o Options) Verdict {
	v := Verdict{Reasons: []Reason{}, Events: len(f.Held) + len(f.Pairs), Kept: f.Kept}
	v.Loss, v.Alignment = f.figures(every(len(f.Held)), every(len(f.Pairs)))
	v.Perplexity = perplexity(v.Loss)
	v.Accuracy, v.Elsewhere = f.accuracy(), loss(f.Elsewhere, every(len(f.Elsewhere)))
	v.P = f.resample(seed, o.Resamples)

	lower, higher := v.Loss.New < v.Loss.Now, v.Alignment.New > v.Alignment.Now
	note := func(is bool, r Reason) bool {
		if is {
			v.Reasons = append(v.Reasons, r)
		}
		return is
	}
	harm := note(f.UnsafeNew > f.UnsafeNow, Unsafe)
	harm = note(f.LeakedNew > f.LeakedNow, Leaks) || harm
	worse := note(!lower, Loss)
	// One who is aligned with all of it cannot be more so.
	full := v.Alignment.New == 1 && v.Alignment.Now == 1
	worse = note(!higher && !full, Alignment) || worse
	if r := f.Kept.wanting(); note(r != "", r) {
		worse = true
	}
	doubt := note(v.Events < o.Least, Few)
	doubt = note(v.P < o.Surely, Chance) || doubt
	doubt = note(v.Elsewhere.New > v.Elsewhere.Now*(1+o.Elsewhere), Elsewhere) || doubt
	switch {
	case harm:
		v.Outcome = None
	case worse && v.Events >= o.Least:
		v.Outcome = None
	case worse || doubt || full:
		v.Outcome = Person
	default:
		v.Outcome = ByRule
	}
	return v
}

// every is the places of n things.
func every(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

func perplexity(loss Change) Change { return Change{math.Exp(loss.Now), math.Exp(loss.New)} }

// resample is the share of draws of as many events, each time others, in which
// both figures are better.
func (f Figures) resample(seed uint64, times int) float64 {
	n := len(f.Held) + len(f.Pairs)
	if n == 0 || times < 1 {
		return 0
	}
	draw := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // a draw, no secret; it is not negative
	better := 0
	for range times {
		var held, pairs []int
		for range n {
			if i := draw.IntN(n); i < len(f.Held) {
				held = append(held, i)
			} else {
				pairs = append(pairs, i-len(f.Held))
			}
		}
		if loss, alignment := f.figures(held, pairs); loss.New < loss.Now && alignment.New > alignment.Now {
			better++
		}
	}
	return float64(better) / float64(times)
}

// figures are loss and alignment of some of the events. The loss of none is that
// of all: draws of pairs alone tell nothing of it.
func (f Figures) figures(held, pairs []int) (losses, alignment Change) {
	var liked []int
	for _, i := range held {
		if f.Held[i].Liked {
			liked = append(liked, i)
		}
	}
	if liked == nil {
		for i := range f.Held {
			if f.Held[i].Liked {
				liked = append(liked, i)
			}
		}
	}
	losses = loss(f.Held, liked)
	for _, i := range held {
		a := f.Held[i]
		alignment.Now += a.aligned(a.Now)
		alignment.New += a.aligned(a.New)
	}
	for _, i := range pairs {
		p := f.Pairs[i]
		alignment.Now += ahead(p.BetterNow - p.WorseNow)
		alignment.New += ahead(p.BetterNew - p.WorseNew)
	}
	if n := float64(len(held) + len(pairs)); n > 0 {
		alignment.Now, alignment.New = alignment.Now/n, alignment.New/n
	}
	return losses, alignment
}

// aligned is whether a model finds the answer likelier than the base does, when
// it was liked, or less likely, when it was not.
func (a Answer) aligned(now float64) float64 {
	gain := (now - a.Base) / float64(max(1, a.Tokens))
	if !a.Liked {
		gain = -gain
	}
	return ahead(gain)
}

// ahead is 1 for more than nothing, 0 for less, and ½ for about nothing.
func ahead(x float64) float64 {
	switch {
	case x > even:
		return 1
	case x < -even:
		return 0
	}
	return 0.5
}

// loss is that of some of the answers, in nats a token.
func loss(list []Answer, at []int) (c Change) {
	n := 0
	for _, i := range at {
		c.Now, c.New, n = c.Now-list[i].Now, c.New-list[i].New, n+list[i].Tokens
	}
	if n == 0 {
		return Change{}
	}
	return Change{c.Now / float64(n), c.New / float64(n)}
}

func (f Figures) accuracy() (c Change) {
	n := 0
	for _, a := range f.Held {
		if a.Liked {
			c.Now, c.New, n = c.Now+float64(a.RightNow), c.New+float64(a.RightNew), n+a.Tokens
		}
	}
	if n == 0 {
		return Change{}
	}
	return Change{c.Now / float64(n), c.New / float64(n)}
}
