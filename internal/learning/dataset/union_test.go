package dataset_test

import (
	"reflect"
	"slices"
	"testing"

	"liminal/internal/learning/dataset"
)

// part is a dataset of events from..to of a hundred, all of its own conversations.
func part(t *testing.T, from, to int) dataset.Dataset {
	t.Helper()
	d := dataset.Make(many(100)[from:to], dataset.DefaultOptions(now))
	if !d.Enough() || len(d.Train) == 0 || len(d.Held) < 4 {
		t.Fatalf("of %d to %d it is %+v", from, to, d.Manifest)
	}
	return d
}

// What two adapters learnt from is one dataset, of which each row knows whose it is
// and on which side it was.
//
// Requirements: CLUS-06 (merged by distillation)
func TestAUnionKnowsWhoseEachRowIs(t *testing.T) {
	t.Parallel()
	a, b := part(t, 0, 20), part(t, 20, 45)
	a.Pairs = []dataset.Pair{{EventID: 1, Chosen: "this", Rejected: "that"}}
	a.Unpaired = []dataset.Unpaired{{EventID: 2, Completion: "that"}}
	u := dataset.Union(a, b)
	if !u.Enough() || len(u.Pairs)+len(u.Unpaired) != 0 {
		t.Errorf("it lacks %q, and has %d pairs", u.Manifest.Missing, len(u.Pairs)+len(u.Unpaired))
	}
	ids := func(rows []dataset.Row, teacher int) (out []int64) {
		for _, r := range rows {
			if r.Teacher == teacher {
				out = append(out, r.EventID)
			}
		}
		return out
	}
	for n, d := range []dataset.Dataset{a, b} {
		if !slices.Equal(ids(u.Train, n), ids(d.Train, 0)) || !slices.Equal(ids(u.Held, n), ids(d.Held, 0)) {
			t.Errorf("of teacher %d it trains with %v and holds out %v", n, ids(u.Train, n), ids(u.Held, n))
		}
	}
	m := u.Manifest
	if m.Rows != len(a.Train)+len(b.Train) || m.HeldOut != len(a.Held)+len(b.Held) || m.Cases != 45 || m.Targets != a.Manifest.Targets+b.Manifest.Targets {
		t.Errorf("its manifest says %+v", m)
	}
	if len(m.Sources) != m.Rows+m.HeldOut || m.Tokens != a.Manifest.Tokens+b.Manifest.Tokens {
		t.Errorf("it names %d sources of %d tokens", len(m.Sources), m.Tokens)
	}
	if again := dataset.Union(part(t, 0, 20), part(t, 20, 45)); !reflect.DeepEqual(again, u) {
		t.Error("made again it differs")
	}
}

// A conversation that is held out of one is trained on by none.
//
// Requirements: TRAIN-06 (newest 10 % held out)
func TestAUnionTrainsOnNothingThatIsHeldOut(t *testing.T) {
	t.Parallel()
	a, b := part(t, 0, 20), part(t, 20, 45)
	taken := b.Train[3].EventID
	b.Train[3].ConversationID = a.Held[0].ConversationID
	u := dataset.Union(a, b)
	if slices.ContainsFunc(u.Train, func(r dataset.Row) bool { return r.EventID == taken }) {
		t.Error("it trains on a conversation that is held out of the other")
	}
	if len(u.Train) != len(a.Train)+len(b.Train)-1 || slices.ContainsFunc(u.Manifest.Sources, func(s dataset.Source) bool { return s.EventID == taken }) {
		t.Errorf("it trains on %d rows, of %d", len(u.Train), len(a.Train)+len(b.Train))
	}
	for i := range b.Train {
		b.Train[i].ConversationID = a.Held[0].ConversationID
	}
	if u := dataset.Union(a, b); u.Enough() || u.Manifest.Missing != dataset.FewRows {
		t.Errorf("with nothing left of one it lacks %q", u.Manifest.Missing)
	}
}

// It is enough where each part is.
func TestAUnionIsAsLittleAsTheLeastOfItsParts(t *testing.T) {
	t.Parallel()
	few := dataset.Make(many(3), dataset.DefaultOptions(now))
	for _, parts := range [][]dataset.Dataset{{part(t, 20, 45), few}, {few, part(t, 20, 45)}} {
		if u := dataset.Union(parts...); u.Enough() || u.Manifest.Missing != few.Manifest.Missing {
			t.Errorf("it lacks %q, not %q", u.Manifest.Missing, few.Manifest.Missing)
		}
	}
}
