package gate_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"liminal/internal/learning/gate"
)

// held are n liked answers of ten tokens, each by as much likelier, in nats a
// token, as gain says.
func held(n int, gain func(i int) float64) (f gate.Figures) {
	for i := range n {
		f.Held = append(f.Held, gate.Answer{
			EventID: int64(i), Liked: true, Tokens: 10, Base: -20, Now: -20, New: -20 + 10*gain(i), RightNow: 4, RightNew: 6,
		})
	}
	return f
}

func always(x float64) func(int) float64 { return func(int) float64 { return x } }

// Requirements: TRAIN-07 (both metrics improve or a person decides)
func TestWeightsAreAppliedByRuleOnlyWhenSurelyBetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f       gate.Figures
		outcome gate.Outcome
		reasons []gate.Reason
	}{
		"better":         {held(8, always(0.5)), gate.ByRule, []gate.Reason{}},
		"too few":        {held(3, always(0.5)), gate.Person, []gate.Reason{gate.Few}},
		"nothing":        {gate.Figures{}, gate.Person, []gate.Reason{gate.Loss, gate.Alignment, gate.Few, gate.Chance}},
		"the same":       {held(8, always(0)), gate.None, []gate.Reason{gate.Loss, gate.Alignment, gate.Chance}},
		"worse":          {held(8, always(-0.5)), gate.None, []gate.Reason{gate.Loss, gate.Alignment, gate.Chance}},
		"few and worse":  {held(2, always(-0.5)), gate.Person, []gate.Reason{gate.Loss, gate.Alignment, gate.Few, gate.Chance}},
		"perhaps better": {held(8, func(i int) float64 { return []float64{1, -0.7, 0.5, -0.6, 0.5, -0.4, 0.6, 0.7}[i] }), gate.Person, []gate.Reason{gate.Chance}},
		// Likelier on the whole by one answer, while most became less likely.
		"one of many": {held(8, func(i int) float64 { return []float64{9, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1, -0.1}[i] }),
			gate.None, []gate.Reason{gate.Alignment, gate.Chance}},
	} {
		v := gate.Judge(c.f, 1, gate.DefaultOptions())
		if v.Outcome != c.outcome || !slices.Equal(v.Reasons, c.reasons) {
			t.Errorf("%s: %s, %v, P %v", name, v.Outcome, v.Reasons, v.P)
		}
		if again := gate.Judge(c.f, 1, gate.DefaultOptions()); !reflect.DeepEqual(again, v) {
			t.Errorf("%s: another time it is %+v", name, again)
		}
	}
}

// Requirements: TRAIN-06 (loss; alignment), TRAIN-18 (perplexity and accuracy of what is held out)
func TestTheFiguresAreAsDefined(t *testing.T) {
	t.Parallel()
	f := held(2, always(0.5))
	f.Held[1].Tokens = 30
	f.Held = append(f.Held,
		gate.Answer{Tokens: 10, Base: -20, Now: -25, New: -15}, // disliked: less likely now, likelier then
		gate.Answer{Liked: true, Tokens: 10, Base: -20, Now: -19, New: -18})
	f.Pairs = []gate.Pair{{BetterNow: -2, WorseNow: -2, BetterNew: -1, WorseNew: -2}, {BetterNow: -1, WorseNow: -2, BetterNew: -3, WorseNew: -2}}
	v := gate.Judge(f, 1, gate.DefaultOptions())
	near := func(name string, got gate.Change, now, fresh float64) {
		if math.Abs(got.Now-now) > 1e-9 || math.Abs(got.New-fresh) > 1e-9 {
			t.Errorf("%s is %+v, not %v and %v", name, got, now, fresh)
		}
	}
	near("loss", v.Loss, 59.0/50, 48.0/50)
	near("perplexity", v.Perplexity, math.Exp(59.0/50), math.Exp(48.0/50))
	near("alignment", v.Alignment, (0.5+0.5+1+1+0.5+1)/6, (1+1+0+1+1+0)/6.0)
	near("accuracy", v.Accuracy, 8.0/50, 12.0/50)
	if v.Events != 6 {
		t.Errorf("%d events", v.Events)
	}
}

func TestHarmElsewhereIsNotAppliedByRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm    func(f *gate.Figures)
		outcome gate.Outcome
		reason  gate.Reason
	}{
		"a little worse elsewhere": {func(f *gate.Figures) { f.Elsewhere = []gate.Answer{{Tokens: 10, Now: -20, New: -20.39}} }, gate.ByRule, ""},
		"worse elsewhere":          {func(f *gate.Figures) { f.Elsewhere = []gate.Answer{{Tokens: 10, Now: -20, New: -20.41}} }, gate.Person, gate.Elsewhere},
		"as unsafe as before":      {func(f *gate.Figures) { f.UnsafeNow, f.UnsafeNew = 2, 2 }, gate.ByRule, ""},
		"unsafe":                   {func(f *gate.Figures) { f.UnsafeNow, f.UnsafeNew = 2, 3 }, gate.None, gate.Unsafe},
		"tells secrets":            {func(f *gate.Figures) { f.LeakedNew = 1 }, gate.None, gate.Leaks},
		"as good as can be before": {func(f *gate.Figures) {
			for i := range f.Held {
				f.Held[i].Now = -19
			}
		}, gate.Person, gate.Chance},
	} {
		f := held(8, always(0.5))
		c.harm(&f)
		v := gate.Judge(f, 1, gate.DefaultOptions())
		if v.Outcome != c.outcome || c.reason != "" && !slices.Contains(v.Reasons, c.reason) {
			t.Errorf("%s: %s, %v", name, v.Outcome, v.Reasons)
		}
	}
}

// Of worthless weights, whose gains are a coin's, the gate lets few through by
// rule.
func TestChanceIsSeldomTakenForBetter(t *testing.T) {
	t.Parallel()
	through := 0
	for n := range 200 {
		coin := func(i int) float64 { return []float64{0.3, -0.3}[(uint(n)*2654435761>>(uint(i)+7))&1] }
		if gate.Judge(held(12, coin), uint64(n), gate.DefaultOptions()).Outcome == gate.ByRule {
			through++
		}
	}
	if through > 30 {
		t.Errorf("%d of 200 pass", through)
	}
	t.Logf("%d of 200 pass", through)
}

// An answer that is likelier is none that is given: what answers keep of a wish is
// looked at besides, for what is trained and for what is merged.
//
// Requirements: TRAIN-07 (both metrics improve or a person decides)
func TestWeightsWhoseAnswersKeepNoWishAreKept(t *testing.T) {
	t.Parallel()
	kept := func(base, now, fresh int) gate.Kept {
		return gate.Kept{Prompts: 8, Of: 8, Base: base, Now: now, New: fresh}
	}
	for name, c := range map[string]struct {
		kept    gate.Kept
		trained gate.Outcome
		merged  gate.Outcome
		reasons []gate.Reason
	}{
		"no wish":             {gate.Kept{}, gate.ByRule, gate.Person, []gate.Reason{}},
		"the base keeps all":  {kept(8, 8, 7), gate.ByRule, gate.Person, []gate.Reason{}},
		"kept":                {kept(0, 0, 2), gate.ByRule, gate.Person, []gate.Reason{}},
		"as well as now":      {kept(0, 8, 6), gate.ByRule, gate.Person, []gate.Reason{}},
		"clearly less":        {kept(0, 8, 5), gate.None, gate.None, []gate.Reason{gate.Forgotten}},
		"no more than before": {kept(1, 7, 1), gate.None, gate.None, []gate.Reason{gate.Unheeded}},
		// A teacher that keeps nothing teaches nothing, and is not missed.
		"never kept": {kept(0, 0, 0), gate.None, gate.Person, []gate.Reason{gate.Unheeded}},
	} {
		f := held(8, always(0.5))
		f.Kept = c.kept
		v := gate.Judge(f, 1, gate.DefaultOptions())
		if v.Outcome != c.trained || !slices.Equal(v.Reasons, c.reasons) || !reflect.DeepEqual(v.Kept, c.kept) {
			t.Errorf("%s: trained it is %s, %v, %+v", name, v.Outcome, v.Reasons, v.Kept)
		}
		v = gate.Merged([]gate.Figures{held(8, always(0)), f}, 1, gate.DefaultOptions())
		if v.Outcome != c.merged || !reflect.DeepEqual(v.Kept, c.kept) {
			t.Errorf("%s: merged it is %s, %v, %+v", name, v.Outcome, v.Reasons, v.Kept)
		}
	}
}

// Requirements: CLUS-06 (merged by distillation)
func TestWhatIsMergedStandsForEachOfItsTeachers(t *testing.T) {
	t.Parallel()
	worse := func(x float64) gate.Figures { return held(8, always(-x)) } // of a loss of 2 nats a token
	with := func(f gate.Figures, change func(f *gate.Figures)) gate.Figures { change(&f); return f }
	for name, c := range map[string]struct {
		parts   []gate.Figures
		outcome gate.Outcome
		reasons []gate.Reason
		surely  bool
	}{
		"nobody":            {nil, gate.None, []gate.Reason{gate.Few}, true},
		"one without proof": {[]gate.Figures{held(8, always(0)), {}}, gate.None, []gate.Reason{gate.Few}, true},
		"the same":          {[]gate.Figures{held(8, always(0)), held(8, always(0))}, gate.Person, []gate.Reason{}, true},
		"much better":       {[]gate.Figures{held(8, always(1)), held(8, always(1))}, gate.Person, []gate.Reason{}, true},
		"a little worse":    {[]gate.Figures{worse(0.039), held(8, always(0))}, gate.Person, []gate.Reason{}, true},
		"worse for one":     {[]gate.Figures{held(8, always(1)), worse(0.041)}, gate.None, []gate.Reason{gate.Loss, gate.Chance}, false},
		"perhaps worse": {[]gate.Figures{held(8, func(i int) float64 { return []float64{0.9, -0.5, 0.3, -0.4, 0.3, -0.4, 0.3, -0.4}[i] })},
			gate.Person, []gate.Reason{gate.Chance}, false},
		"worse elsewhere": {[]gate.Figures{held(8, always(0)), with(held(8, always(0)), func(f *gate.Figures) {
			f.Elsewhere = []gate.Answer{{Tokens: 10, Now: -20, New: -20.41}}
		})}, gate.Person, []gate.Reason{gate.Elsewhere}, true},
		"unsafe": {[]gate.Figures{with(held(8, always(0)), func(f *gate.Figures) { f.UnsafeNew = 1 }), held(8, always(0))}, gate.None, []gate.Reason{gate.Unsafe}, true},
		"tells":  {[]gate.Figures{held(8, always(0)), with(held(8, always(0)), func(f *gate.Figures) { f.LeakedNew = 1 })}, gate.None, []gate.Reason{gate.Leaks}, true},
	} {
		v := gate.Merged(c.parts, 1, gate.DefaultOptions())
		if v.Outcome != c.outcome || !slices.Equal(v.Reasons, c.reasons) || (v.P >= 0.9) != c.surely {
			t.Errorf("%s: %s, %v, P %v", name, v.Outcome, v.Reasons, v.P)
		}
		if again := gate.Merged(c.parts, 1, gate.DefaultOptions()); !reflect.DeepEqual(again, v) {
			t.Errorf("%s: another time it is %+v", name, again)
		}
	}
	v := gate.Merged([]gate.Figures{held(2, always(0.5)), worse(0.1)}, 1, gate.DefaultOptions())
	if v.Events != 10 || math.Abs(v.Loss.Now-2) > 1e-9 || math.Abs(v.Loss.New-(1.5*2+2.1*8)/10) > 1e-9 {
		t.Errorf("of both together it is %+v", v)
	}
}
