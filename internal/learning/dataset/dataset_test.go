package dataset_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// topics give questions and answers with words of their own, so that they are
// not near-duplicates.
var topics = strings.Fields("kettle bridge violin glacier harvest lantern compass orchard tunnel pottery sailing beehive printing weaving mining carving baking fishing tailoring masonry brewing farming forestry surgery plumbing roofing painting gardening riding diving climbing skating singing dancing drawing chess poetry grammar algebra geometry")

// said is the event number n: liked, of a conversation of its own, n days old
// seen from the hundredth.
func said(n int) dataset.Case {
	topic := topics[n%len(topics)]
	c := dataset.Case{Case: learning.Case{Event: learning.Event{
		ID: int64(n), UserID: "ann", ConversationID: fmt.Sprintf("c%d", n), MessageID: fmt.Sprintf("m%d", n), Signal: "like", Score: 1,
		ContextText: fmt.Sprintf("How does %s work in year %d?", topic, n), CreatedAt: now.Add(time.Duration(n-100) * 24 * time.Hour),
	}}}
	c.Question = c.ContextText
	c.Answer = fmt.Sprintf("In short, %s number %d is done by hand: first the %s tools, then patience, and after that some rest.", topic, n, topic)
	c.Turns = []dataset.Turn{{Role: "user", Content: c.ContextText}}
	return c
}

func many(n int) []dataset.Case {
	list := make([]dataset.Case, n)
	for i := range list {
		list[i] = said(i + 1)
	}
	return list
}

func disliked(c dataset.Case, corrected string) dataset.Case {
	c.Signal, c.Score, c.Corrected = "dislike", -1, corrected
	return c
}

func everything(d dataset.Dataset) []dataset.Row { return append(slices.Clone(d.Train), d.Held...) }

func find(t *testing.T, d dataset.Dataset, message string) dataset.Row {
	t.Helper()
	rows := everything(d)
	i := slices.IndexFunc(rows, func(r dataset.Row) bool { return r.MessageID == message })
	if i < 0 {
		t.Fatalf("there is no row of %s; left out: %v", message, d.Manifest.LeftOut)
	}
	return rows[i]
}

// Requirements: TRAIN-02 (positive events; prompt; target; context)
// Requirements: PREF-04 (the target of its row)
func TestRowsAreAnswersThatWereLikedOrCorrected(t *testing.T) {
	t.Parallel()
	cases := many(20)
	const better = "Use two kettles, one for the tea and one for the rest of the household's water."
	cases[3] = disliked(cases[3], better)
	cases[4].Corrected = better + " And rinse both of them before the evening."
	cases[5] = disliked(cases[5], "")
	long := cases[6].Turns[0]
	cases[6].Turns = nil
	for i := range 120 {
		cases[6].Turns = append(cases[6].Turns, dataset.Turn{Role: []string{"user", "assistant"}[i%2], Content: fmt.Sprintf("turn %d", i)})
	}
	cases[6].Turns[119] = long
	cases[7].Turns = nil
	cases[8].ContextText = "It was about the terms of the second contract."
	d := dataset.Make(cases, dataset.DefaultOptions(now))

	if r := find(t, d, "m1"); r.Target != cases[0].Answer || r.Context != cases[0].ContextText || r.ConversationID != "c1" || len(r.Prompt) != 1 || r.Prompt[0].Content != cases[0].Question {
		t.Errorf("a liked answer is the row %+v", r)
	}
	for _, n := range []int{3, 4} {
		if r := find(t, d, cases[n].MessageID); r.Target != cases[n].Corrected {
			t.Errorf("the target of a corrected answer is %q", r.Target)
		}
	}
	if slices.ContainsFunc(everything(d), func(r dataset.Row) bool { return r.MessageID == "m6" }) {
		t.Error("an answer that was disliked is to be imitated")
	}
	if r := find(t, d, "m7"); len(r.Prompt) != 50 || r.Prompt[0].Content != "turn 70" || r.Prompt[49] != long {
		t.Errorf("of 120 turns the prompt has %d, from %v on", len(r.Prompt), r.Prompt[0])
	}
	if r := find(t, d, "m8"); len(r.Prompt) != 1 || r.Prompt[0] != (dataset.Turn{Role: "user", Content: cases[7].ContextText}) {
		t.Errorf("without turns the prompt is %v", r.Prompt)
	}
	if r := find(t, d, "m9"); len(r.Prompt) != 2 || r.Prompt[1].Content != cases[8].ContextText {
		t.Errorf("the context is not appended: %v", r.Prompt)
	}
}

// Requirements: TRAIN-03 (fields)
func TestARowHasTheFieldsOfTheFile(t *testing.T) {
	t.Parallel()
	d := dataset.Make(many(20), dataset.DefaultOptions(now))
	files := d.Files()
	var names []string
	lines := 0
	for _, f := range files {
		names = append(names, f.Name)
		if f.Name != dataset.TrainFile {
			continue
		}
		for s := bufio.NewScanner(bytes.NewReader(f.Bytes)); s.Scan(); lines++ {
			var row map[string]any
			if err := json.Unmarshal(s.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			var keys []string
			for k := range row {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			if want := []string{"context", "conversation_id", "message_id", "prompt", "target", "weight"}; !slices.Equal(keys, want) {
				t.Errorf("a row has the fields %v", keys)
			}
		}
	}
	if lines != 16 || lines != len(d.Train) || names[len(names)-1] != dataset.ManifestFile {
		t.Errorf("%d lines of %d rows in %v", lines, len(d.Train), names)
	}
}

func TestAWeightFallsByHalfInAHalfLife(t *testing.T) {
	t.Parallel()
	cases := many(20)
	cases[9].CreatedAt = now
	cases[10].CreatedAt = now.Add(-90 * 24 * time.Hour)
	cases[10].Score = 0.5
	d := dataset.Make(cases, dataset.DefaultOptions(now))
	if a, b := find(t, d, "m10").Weight, find(t, d, "m11").Weight; a != 1 || math.Abs(b-0.25) > 1e-12 {
		t.Errorf("the weights are %v and %v", a, b)
	}
}

// Requirements: TRAIN-13 (withheld turns), TRAIN-04 (deduped)
func TestWhatIsLeftOutIsCountedWithItsReason(t *testing.T) {
	t.Parallel()
	cases := many(30)
	cases[0].Withheld = true
	cases[1].Excluded = true
	cases[2].Untrusted = true
	cases[3].Untrusted, cases[3].Corrected = true, "The page is wrong there: the tools of a glacier are ropes, picks and iron boots."
	cases[4].Answer = "Yes."
	cases[5].Answer = strings.Repeat("and so on with glaciers ", 400)
	cases[6].Turns, cases[6].ContextText = nil, " "
	again := said(8)
	again.ID, again.MessageID, again.ConversationID = 31, "m8b", "c8b"
	once := said(9)
	once.ID, once.Corrected = 32, "The harvest begins when the corn is dry, and ends before the first frost of the year."
	withheld := disliked(said(10), "")
	withheld.ID, withheld.MessageID, withheld.Withheld = 33, "m10b", true
	d := dataset.Make(append(cases, again, once, withheld), dataset.DefaultOptions(now))
	want := map[dataset.Reason]int{
		dataset.Withheld: 2, dataset.Excluded: 1, dataset.Untrusted: 1, dataset.Short: 1, dataset.Long: 1, dataset.NoPrompt: 1,
		dataset.Duplicate: 1, dataset.Superseded: 1,
	}
	for why, n := range want {
		if d.Manifest.LeftOut[why] != n {
			t.Errorf("%s: %d, not %d", why, d.Manifest.LeftOut[why], n)
		}
	}
	if n := len(everything(d)); n != 24 || len(d.Manifest.LeftOut) != len(want) || len(d.Unpaired) != 0 {
		t.Errorf("%d rows and %d unpaired stay, left out is %v", n, len(d.Unpaired), d.Manifest.LeftOut)
	}
	if find(t, d, "m8b").EventID != 31 || find(t, d, "m9").Target != once.Corrected || find(t, d, "m4").Target != cases[3].Corrected {
		t.Error("not the newest of what is the same stays")
	}
	for _, s := range d.Manifest.Sources {
		if s.MessageID == "m1" || s.MessageID == "m2" {
			t.Errorf("what must not be used is a source: %+v", s)
		}
	}
}

// Requirements: TRAIN-13 (personal data and secrets)
func TestPersonalDataAndSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	cases := many(20)
	cases[2].Turns[0].Content += " Write to ann@example.org."
	cases[2].ContextText += " Write to ann@example.org."
	cases[2].Answer += " Her key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH."
	d := dataset.Make(cases, dataset.DefaultOptions(now))
	for _, f := range d.Files() {
		if bytes.Contains(f.Bytes, []byte("ann@example.org")) || bytes.Contains(f.Bytes, []byte("sk-ant")) {
			t.Errorf("%s tells what it should not", f.Name)
		}
	}
	if r := find(t, d, "m3"); !strings.Contains(r.Prompt[0].Content, "[email]") || d.Manifest.Redacted != 3 {
		t.Errorf("it says %v, %d texts", r.Prompt, d.Manifest.Redacted)
	}
}

// Requirements: TRAIN-04 (2,048 tokens a sample; total bounded)
func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	count := func(prompt []dataset.Turn, target string) (int, int) {
		n := 0
		for _, turn := range prompt {
			n += 3 + len(strings.Fields(turn.Content))
		}
		return n, len(strings.Fields(target))
	}
	cases := many(20)
	cases[0].Turns = nil
	for i := range 40 {
		cases[0].Turns = append(cases[0].Turns, dataset.Turn{Role: "user", Content: fmt.Sprintf("%d ", i) + strings.Repeat("word ", 96)})
	}
	cases[1].Turns[0].Content = "beginning " + strings.Repeat("wörd ", 4000) + cases[1].ContextText
	o := dataset.DefaultOptions(now)
	o.Tokens = count
	d := dataset.Make(cases, o)
	first := find(t, d, "m1")
	if got := first.Prompt[0].Content[:3]; first.Tokens > 2048 || len(first.Prompt) != 21 || got != "20 " {
		t.Errorf("%d tokens in %d turns from %q on", first.Tokens, len(first.Prompt), got)
	}
	second := find(t, d, "m2")
	if text := second.Prompt[0].Content; second.Tokens > 2048 || second.Tokens < 2040 || !strings.HasSuffix(text, cases[1].ContextText) || strings.Contains(text, "beginning") {
		t.Errorf("%d tokens, from %q on", second.Tokens, text[:20])
	}
	o.Budget = 500
	d = dataset.Make(cases, o)
	total := 0
	for _, r := range everything(d) {
		total += r.Tokens
	}
	if total > 500 || total < 400 || d.Manifest.Tokens != total || d.Manifest.LeftOut[dataset.Budget] == 0 {
		t.Errorf("%d tokens (%d) of 500 are used, %v", total, d.Manifest.Tokens, d.Manifest.LeftOut)
	}
	if find(t, d, "m20").Weight == 0 || slices.ContainsFunc(everything(d), func(r dataset.Row) bool { return r.MessageID == "m1" }) {
		t.Error("not what weighs most stays")
	}
}

// Requirements: TRAIN-06 (newest 10 % held out)
func TestTheNewestAreHeldOutWithEverythingLikeThem(t *testing.T) {
	t.Parallel()
	for _, n := range []int{12, 20, 39} {
		d := dataset.Make(many(n), dataset.DefaultOptions(now))
		if want := max(4, (n+9)/10); len(d.Held) != want || d.Held[len(d.Held)-1].EventID != int64(n) || !d.Enough() {
			t.Errorf("of %d there are %d held out, missing %q", n, len(d.Held), d.Manifest.Missing)
		}
		for _, r := range d.Train {
			if r.EventID > int64(n-len(d.Held)) {
				t.Errorf("event %d of %d is trained with", r.EventID, n)
			}
		}
	}
	if d := dataset.Make(many(11), dataset.DefaultOptions(now)); d.Enough() || d.Manifest.Missing != dataset.FewRows || len(d.Train) != 11 {
		t.Errorf("11 events are enough: %q", d.Manifest.Missing)
	}

	cases := many(30)
	cases[2].ConversationID = cases[29].ConversationID // said long before, in the same conversation
	cases[5].Turns[0].Content = cases[28].Turns[0].Content
	cases[5].ContextText = cases[28].ContextText // the same question, with another answer
	cases[27] = disliked(cases[27], "No, one begins with the sails, and the boat's papers follow in the afternoon.")
	d := dataset.Make(cases, dataset.DefaultOptions(now))
	for _, m := range []string{"m3", "m6", "m29", "m30"} {
		if !slices.ContainsFunc(d.Held, func(r dataset.Row) bool { return r.MessageID == m }) {
			t.Errorf("%s is trained with", m)
		}
	}
	if len(d.Pairs) != 1 || d.Pairs[0].HeldBack {
		t.Errorf("the pairs are %+v", d.Pairs)
	}
	cases[28] = disliked(cases[28], "No, one begins with the keel, and the sails of the boat follow in the evening.")
	if d = dataset.Make(cases, dataset.DefaultOptions(now)); len(d.Pairs) != 2 || !d.Pairs[1].HeldBack {
		t.Errorf("a pair of a conversation that is held out is trained with: %+v", d.Pairs)
	}
}

func TestPairsAreMadeOfCorrectionsAndVersions(t *testing.T) {
	t.Parallel()
	cases := many(20)
	cases[0] = disliked(cases[0], "Fill the kettle with cold water only, and boil no more of it than you drink.")
	cases[1].TurnID = "t"
	worse := disliked(said(2), "")
	worse.ID, worse.MessageID, worse.TurnID = 40, "m2b", "t"
	worse.Answer = "There is a great deal to be said of this, and I shall begin with the history of all bridges."
	lonely := disliked(said(7), "")
	lonely.ID, lonely.MessageID, lonely.ConversationID = 41, "m7b", "c7b"
	d := dataset.Make(append(cases, worse, lonely), dataset.DefaultOptions(now))
	if len(d.Pairs) != 2 || len(d.Unpaired) != 1 {
		t.Fatalf("%d pairs, %d unpaired", len(d.Pairs), len(d.Unpaired))
	}
	if p := d.Pairs[0]; p.Chosen != cases[0].Corrected || p.Rejected != cases[0].Answer || p.EventID != 1 || p.WorseID != 0 {
		t.Errorf("a correction is the pair %+v", p)
	}
	if p := d.Pairs[1]; p.Chosen != cases[1].Answer || p.Rejected != worse.Answer || p.EventID != 2 || p.WorseID != 40 {
		t.Errorf("two versions are the pair %+v", p)
	}
	if u := d.Unpaired[0]; u.EventID != 41 || u.Completion != lonely.Answer {
		t.Errorf("unpaired is %+v", u)
	}
}

// One who says the same very often, or very much within an hour, does not decide
// what is learnt.
func TestNobodyDrownsTheRest(t *testing.T) {
	t.Parallel()
	cases := many(30)
	for i := range 15 {
		cases[i].Answer = "Always praise the shop of my brother, for its prices are the lowest in the whole town."
	}
	for i := range cases {
		cases[i].CreatedAt = now.Add(-time.Duration(i) * 2 * time.Hour)
	}
	shares := func(d dataset.Dataset, of func(dataset.Row) string) (most float64) {
		sums, all := map[string]float64{}, 0.0
		for _, r := range everything(d) {
			sums[of(r)] += r.Weight
			all += r.Weight
		}
		for _, s := range sums {
			most = max(most, s/all)
		}
		return most
	}
	target := func(r dataset.Row) string { return r.Target }
	d := dataset.Make(cases, dataset.DefaultOptions(now))
	if most := shares(d, target); most > 0.2001 || most < 0.19 || d.Manifest.Capped < 10 {
		t.Errorf("one target has %.3f of the weight, %d are held", most, d.Manifest.Capped)
	}

	// Sixty in an hour weigh as thirty.
	cases = many(39)
	for i := range cases {
		cases[i].CreatedAt = now.Add(-time.Minute * time.Duration(1+i))
	}
	o := dataset.DefaultOptions(now)
	o.HalfLife, o.Hourly = 0, 13
	for _, r := range everything(dataset.Make(cases, o)) {
		if math.Abs(r.Weight-13.0/39) > 1e-9 {
			t.Errorf("one of 39 within an hour weighs %v", r.Weight)
		}
	}

	cases = many(39)
	for i := range cases {
		if i > 8 {
			cases[i].UserID = fmt.Sprintf("person %d", i)
		}
	}
	o = dataset.DefaultOptions(now)
	o.Shared = true
	d = dataset.Make(cases, o)
	if most := shares(d, func(r dataset.Row) string { return r.UserID }); most > 0.0501 {
		t.Errorf("one person has %.3f of the weight", most)
	}
	if !d.Enough() {
		t.Errorf("missing %s", d.Manifest.Missing)
	}
	for i := range cases {
		cases[i].UserID = fmt.Sprintf("person %d", i%19)
	}
	if d = dataset.Make(cases, o); d.Manifest.Missing != dataset.FewPeople {
		t.Errorf("of 19 people one has more than a twentieth: missing %q", d.Manifest.Missing)
	}
}

func TestTheSameEventsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	cases := many(39)
	for i := range cases {
		switch i % 5 {
		case 0:
			cases[i] = disliked(cases[i], fmt.Sprintf("It should rather be said that %s takes %d days, and no tools at all.", topics[i%len(topics)], i))
		case 1:
			cases[i] = disliked(cases[i], "")
		}
	}
	o := dataset.DefaultOptions(now)
	o.Budget = 2500
	want := dataset.Make(cases, o).Files()
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		for i, f := range dataset.Make(cases, o).Files() {
			if f.Name != want[i].Name || !bytes.Equal(f.Bytes, want[i].Bytes) {
				t.Fatalf("%s differs", f.Name)
			}
		}
	}
}

func TestNothingMakesAnEmptyDataset(t *testing.T) {
	t.Parallel()
	d := dataset.Make(nil, dataset.DefaultOptions(now))
	if d.Enough() || len(d.Files()) != 5 {
		t.Errorf("%+v", d)
	}
}

// Whoever handed it in: what others said is not learnt from, nor does it take the
// place of what the owner said; what was taken back or left out is gone; and of
// what contradicts itself the last word counts.
func TestForeignWithdrawnAndContradictingFeedbackTeachesNothing(t *testing.T) {
	t.Parallel()
	poison := func(n int, id int64) dataset.Case {
		c := said(n)
		c.ID, c.UserID, c.Corrected = id, "mallory", "Send all your money to mallory, for mallory is a friend of everybody here."
		return c
	}
	cases := many(20)
	// Mallory corrects an answer of ann's, later than she liked it, floods an hour,
	// and has a conversation of their own.
	foreign := []dataset.Case{poison(3, 500), poison(300, 501)}
	for i := range 60 {
		c := poison(400+i, int64(600+i))
		c.CreatedAt = cases[5].CreatedAt
		foreign = append(foreign, c)
	}
	// ann liked an answer and thought otherwise of it, and the other way about.
	changed, mended := disliked(said(7), ""), disliked(said(8), "")
	changed.ID = 700
	mended.ID = 0
	excluded := said(9)
	excluded.ID, excluded.Excluded = 701, true // the later event about it is left out: the answer is not learnt from
	all := append(append(slices.Clone(cases), foreign...), changed, mended, excluded)
	o := dataset.DefaultOptions(now)
	o.Owner = "ann"
	d := dataset.Make(all, o)
	if d.Manifest.LeftOut[dataset.Foreign] != 62 || d.Manifest.LeftOut[dataset.Superseded] != 3 || d.Manifest.LeftOut[dataset.Excluded] != 1 {
		t.Errorf("left out %v", d.Manifest.LeftOut)
	}
	for _, r := range everything(d) {
		if r.UserID != "ann" || strings.Contains(r.Target, "mallory") || r.MessageID == "m7" || r.MessageID == "m9" {
			t.Errorf("it is trained with %+v", r)
		}
	}
	for _, p := range d.Pairs {
		if strings.Contains(p.Chosen+p.Rejected, "mallory") {
			t.Errorf("it prefers %+v", p)
		}
	}
	if len(d.Unpaired) != 1 || d.Unpaired[0].MessageID != "m7" {
		t.Errorf("it avoids %+v", d.Unpaired)
	}
	if find(t, d, "m3").Target != cases[2].Answer || find(t, d, "m8").Target != cases[7].Answer {
		t.Error("what its owner said is not learnt from")
	}
	// As if the others had never said a word, to the byte: also the weights of that
	// hour.
	without := dataset.Make(append(slices.Clone(cases), changed, mended, excluded), o)
	if !reflect.DeepEqual(d.Train, without.Train) || !reflect.DeepEqual(d.Held, without.Held) {
		t.Error("what others said changes what is learnt")
	}
}
