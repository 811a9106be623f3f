package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// All of it is in sight by now: what the README gives for sentences that were
// not is what each set showed when it was looked at first.
func TestPlantedFiguresAreCaughtAndTrueOnesAreLeftAlone(t *testing.T) {
	t.Parallel()
	sum := GroundingReport{}
	for _, part := range append([]string{All}, GroundingSets()...) {
		r, err := Grounding(GroundingOptions{Dir: "../../eval/grounding", Part: part, Seed: 18})
		if err != nil {
			t.Fatal(err)
		}
		sum.Planted, sum.False = sum.Planted.add(r.Planted), sum.False.add(r.False)
		var b strings.Builder
		if err := r.Print(&b, true); err != nil {
			t.Fatal(err)
		}
		t.Log(b.String())
	}
	if sum.Planted.Of < 1900 || sum.Planted.N*1000 < sum.Planted.Of*945 || sum.False.N*1000 > sum.False.Of*23 {
		t.Errorf("caught %s, false alarms %s", sum.Planted, sum.False)
	}
}

// With a language model asked too, as the gate of an agent asks it, what nobody had
// tuned anything with holds what is promised. The answers of the model are kept:
// what this holds is what becomes of them.
//
// Requirements: GRND-16
func TestWithAModelAskedPlantedFiguresAreCaught(t *testing.T) {
	t.Parallel()
	const dir = "../../eval/grounding"
	for _, set := range []string{AskedKept, Final} {
		check, err := RecordedCheck(dir, set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Grounding(GroundingOptions{Dir: dir, Part: set, Check: check})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Print(&b, true); err != nil {
			t.Fatal(err)
		}
		t.Log(b.String())
		if r.Planted.Of < 200 || r.Planted.N*100 < r.Planted.Of*98 || r.False.N*100 > r.False.Of*2 || r.Checked.Unanswered > 0 {
			t.Errorf("%s: caught %s, false alarms %s, of the model %+v", set, r.Planted, r.False, *r.Checked)
		}
	}
	if _, err := RecordedCheck(dir, Last); err == nil || !strings.Contains(err.Error(), `"last"`) {
		t.Errorf("a set without answers: %v", err)
	}
}

// A half and the other are all of a set.
func TestTheHalvesOfTheSentencesAreApart(t *testing.T) {
	t.Parallel()
	list := []int{1, 2, 3, 4, 5, 6, 7}
	tuned, kept := halfOf(list, Tuned, 18), halfOf(list, Kept, 18)
	both := slices.Concat(tuned, kept)
	slices.Sort(both)
	if len(tuned) != 3 || !slices.Equal(both, list) || slices.Equal(tuned, halfOf(list, Tuned, 19)) && slices.Equal(kept, halfOf(list, Kept, 19)) {
		t.Errorf("%v and %v", tuned, kept)
	}
}

// A true sentence in which nothing is planted counts as one that is true.
func TestASentenceWithoutAPlantIsJudgedAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worlds.json":     `{"w":{"today":"2026-05-12"}}`,
		"sentences.jsonl": `{"world":"w","lang":"en","text":"I see none.","from":"","to":"","kind":"none"}` + "\n" + `{"world":"w","lang":"en","text":"It costs €12.50.","from":"12.50","to":"13.50","kind":"figure"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Grounding(GroundingOptions{Dir: dir})
	if err != nil || r.Sentences != 3 || r.Planted != (Counted{1, 1}) || r.False != (Counted{1, 2}) || len(r.Kinds) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSentencesWithoutWhatIsPlantedAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worlds.json":     `{"w":{"today":"2026-05-12"}}`,
		"sentences.jsonl": `{"world":"w","text":"A","from":"B","to":"C"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Grounding(GroundingOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "sentences.jsonl:1") {
		t.Errorf("%v", err)
	}
}
