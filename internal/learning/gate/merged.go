package gate

import "math/rand/v2"

// Merged decides about weights that are to stand for several others. Each part is
// of one of those: what serves there is that one, and what is held out is its own.
// On none of them may the loss grow by more than Options.Elsewhere, where one keeps
// wishes they must still be kept, and nothing may be unsafe or leak; then a person
// decides, never a rule: something of theirs is to go. Verdict.Kept is that of the
// part that loses most.
func Merged(parts []Figures, seed uint64, o Options) Verdict {
	v := Verdict{Reasons: []Reason{}, Outcome: Person}
	note := func(is bool, r Reason) bool {
		if is {
			v.Reasons = append(v.Reasons, r)
		}
		return is
	}
	var all Figures
	few, worse, elsewhere := len(parts) == 0, false, false
	lost := map[Reason]bool{}
	for _, f := range parts {
		all.Held = append(all.Held, f.Held...)
		all.UnsafeNow, all.UnsafeNew = max(all.UnsafeNow, f.UnsafeNow), max(all.UnsafeNew, f.UnsafeNew)
		all.LeakedNow, all.LeakedNew = max(all.LeakedNow, f.LeakedNow), max(all.LeakedNew, f.LeakedNew)
		few = few || len(f.Held) == 0
		own, other := loss(f.Held, every(len(f.Held))), loss(f.Elsewhere, every(len(f.Elsewhere)))
		worse = worse || !within(own, o)
		elsewhere = elsewhere || !within(other, o)
		if f.Kept.Now > f.Kept.Base { // what it does not keep itself nobody can learn of it
			lost[f.Kept.wanting()] = true
		}
		if v.Kept.Of == 0 || f.Kept.Now-f.Kept.New > v.Kept.Now-v.Kept.New {
			v.Kept = f.Kept
		}
		if other.New-other.Now >= v.Elsewhere.New-v.Elsewhere.Now {
			v.Elsewhere = other
		}
	}
	v.Events = len(all.Held)
	v.Loss, v.Alignment = all.figures(every(len(all.Held)), nil)
	v.Perplexity, v.Accuracy = perplexity(v.Loss), all.accuracy()
	v.P = keeps(parts, seed, o)
	harm := note(all.UnsafeNew > all.UnsafeNow, Unsafe)
	harm = note(all.LeakedNew > all.LeakedNow, Leaks) || harm
	harm = note(worse, Loss) || harm
	harm = note(lost[Unheeded], Unheeded) || harm
	harm = note(lost[Forgotten], Forgotten) || harm
	harm = note(few, Few) || harm
	note(elsewhere, Elsewhere)
	note(v.P < o.Surely, Chance)
	if harm {
		v.Outcome = None
	}
	return v
}

// within reports whether a loss has not grown by more than it may.
func within(c Change, o Options) bool { return c.New <= c.Now*(1+o.Elsewhere) }

// keeps is the share of draws of as many events of each part in which the loss of
// none grows by more than it may.
func keeps(parts []Figures, seed uint64, o Options) float64 {
	draw := rand.New(rand.NewPCG(seed, uint64(len(parts)))) //nolint:gosec // a draw, no secret; it is not negative
	good := 0
	for range o.Resamples {
		kept := true
		for _, f := range parts {
			at := make([]int, len(f.Held))
			for i := range at {
				at[i] = draw.IntN(len(at))
			}
			kept = kept && within(loss(f.Held, at), o)
		}
		if kept {
			good++
		}
	}
	return float64(good) / float64(max(1, o.Resamples))
}
