package cluster_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/learning"
	"liminal/internal/learning/cluster"
)

const owner = "person"

// The questions of three situations, and some of none.
var (
	reminders = []string{
		"Write a polite reminder to %s about the unpaid invoice.", "%s has not paid the invoice, draft a friendly reminder.",
		"Second reminder for %s: the invoice is overdue.",
	}
	recipes = []string{
		"Recipe for apple pie without %s, please.", "What can I use instead of %s in the recipe for apple pie?", "A recipe for pie with less %s.",
	}
	sitzungen = []string{
		"Fasse das Protokoll der Sitzung über %s zusammen.", "Welche Beschlüsse zu %s stehen im Protokoll der Sitzung?", "Das Protokoll der Sitzung zu %s bitte kürzen.",
	}
	firms       = []string{"Miller", "Northwind", "Acme Tools", "Lindqvist", "the bakery"}
	ingredients = []string{"butter", "garlic", "cheese", "flour", "eggs"}
	topics      = []string{"Umbau", "Budget", "Urlaub", "Drucker", "Werbung"}
	alone       = []string{
		"Why is the sky blue?", "Name three novels about lighthouses.", "Who invented the zip fastener?", "How far can an eagle see?",
		"Wie viele Saiten hat eine Harfe?", "Welche Blumen vertragen Schatten?", "Is it safe to charge a phone in the rain?", "How is glass made?",
		"What does a viola player practise first?", "Suggest a name for a grey parrot.", "Translate the motto of Scotland.", "Wie alt werden Schildkröten?",
	}
)

// events are what a person said of answers to questions, one of each situation
// in turn.
func events(t *testing.T, each int, of ...[]string) []learning.Case {
	t.Helper()
	var out []learning.Case
	for i := range each {
		for _, templates := range of {
			q := templates[i%len(templates)]
			out = append(out, event(t, int64(len(out)+1), owner, filled(q, i)))
		}
	}
	return out
}

func filled(question string, i int) string {
	list := firms
	switch {
	case strings.Contains(question, "ecipe"):
		list = ingredients
	case strings.Contains(question, "Protokoll"):
		list = topics
	}
	return strings.Replace(question, "%s", list[i%len(list)], 1)
}

func event(t *testing.T, id int64, user, question string) learning.Case {
	t.Helper()
	v, err := embed.Turn(t.Context(), embed.Hash{}, question, "")
	if err != nil {
		t.Fatal(err)
	}
	return learning.Case{Question: question, Event: learning.Event{
		ID: id, UserID: user, MessageID: fmt.Sprint("m", id), Embedding: v, Meta: map[string]any{"encoder": "hash-v1"},
	}}
}

func find(cases []learning.Case, had ...learning.Cluster) learning.Clustering {
	return cluster.Find(cases, had, owner, "hash-v1", cluster.DefaultOptions())
}

// stored is what the next run reads: the events know their clusters.
func stored(cases []learning.Case, found learning.Clustering) []learning.Case {
	out := slices.Clone(cases)
	for i := range out {
		out[i].ClusterID = found.Of[out[i].ID]
	}
	return out
}

func active(c learning.Clustering) []learning.Cluster {
	return slices.DeleteFunc(slices.Clone(c.Clusters), func(c learning.Cluster) bool { return c.Status != learning.ClusterActive })
}

// holding is the cluster of most events whose question holds a word.
func holding(t *testing.T, cases []learning.Case, found learning.Clustering, word string) learning.Cluster {
	t.Helper()
	votes := map[string]int{}
	for _, c := range cases {
		if strings.Contains(c.Question, word) {
			votes[found.Of[c.ID]]++
		}
	}
	best := learning.Cluster{}
	for _, c := range found.Clusters {
		if votes[c.ID] > votes[best.ID] {
			best = c
		}
	}
	if best.ID == "" {
		t.Fatalf("no cluster of %q among %d", word, len(found.Clusters))
	}
	return best
}

// Requirements: CLUS-01 (clustering of vectors; centroid and size; events have clusters)
func TestSituationsThatComeBackAreFound(t *testing.T) {
	t.Parallel()
	cases := append(events(t, 16, reminders, recipes, sitzungen), events(t, 1, alone[:1], alone[1:2], alone[2:3], alone[3:4])...)
	for i := range cases {
		cases[i].ID = int64(i + 1)
	}
	found := find(cases)
	if len(found.Clusters) != 3 || len(found.Of) != len(cases) {
		t.Fatalf("%d clusters, %d of %d events", len(found.Clusters), len(found.Of), len(cases))
	}
	sizes := map[string]int{}
	for _, of := range found.Of {
		sizes[of]++
	}
	for _, c := range found.Clusters {
		if c.UserID != owner || c.Status != learning.ClusterActive || c.Size != sizes[c.ID] || c.Size < 14 || len(c.Centroid) != embed.Dim ||
			c.Strength < 0.5 || c.Strength > 1 || c.Reach <= 0 || c.Reach >= 1 || c.Encoder != "hash-v1" || len(c.Samples) != 5 {
			t.Errorf("%+v", c)
		}
		if norm := embed.Cosine(c.Centroid, c.Centroid); norm < 0.999 {
			t.Errorf("a centroid is no direction: %v", c.Centroid)
		}
	}
	for _, c := range cases[48:] {
		if found.Of[c.ID] != "" {
			t.Errorf("%q belongs to a cluster", c.Question)
		}
	}
	if holding(t, cases, found, "reminder").ID == holding(t, cases, found, "ecipe").ID {
		t.Error("two situations are one")
	}
}

// Requirements: CLUS-07
func TestTheSameEventsGiveTheSameClusters(t *testing.T) {
	t.Parallel()
	cases := events(t, 14, reminders, recipes, sitzungen, alone)
	first := find(cases)
	if again := find(cases); !reflect.DeepEqual(again, first) {
		t.Error("twice the same events, and other clusters")
	}
	mixed := slices.Clone(cases)
	slices.Reverse(mixed)
	if again := find(append(mixed, cases...)); !reflect.DeepEqual(again, first) {
		t.Error("the order of events, or one that comes twice, changes clusters")
	}
	if again := find(stored(cases, first), first.Clusters...); !reflect.DeepEqual(again, first) {
		t.Error("running again on what the first run stored changes it")
	}
}

// Requirements: CLUS-02 (grouping)
func TestOnlyThePersonsOwnEventsAreGrouped(t *testing.T) {
	t.Parallel()
	cases := events(t, 12, reminders)
	foreign := event(t, 1000, "other", "Write a polite reminder to Miller about the unpaid invoice.")
	found := find(append(slices.Clone(cases), foreign))
	if of, known := found.Of[foreign.ID]; known {
		t.Errorf("an event of somebody else is of %q", of)
	}
	if !reflect.DeepEqual(found, find(cases)) {
		t.Error("an event of somebody else changes a person's clusters")
	}
}

// What one person keeps asking is no situation of everybody.
//
// Requirements: CLUS-02 (grouping)
func TestEverybodysClustersAreOfSeveralPeople(t *testing.T) {
	t.Parallel()
	cases := events(t, 20, reminders, recipes)
	for i := range cases {
		if strings.Contains(cases[i].Question, "nvoice") {
			cases[i].UserID = fmt.Sprint("person", i%5)
		}
	}
	found := cluster.Find(cases, nil, "", "hash-v1", cluster.DefaultOptions())
	if len(found.Clusters) != 1 || found.Clusters[0].UserID != "" || holding(t, cases, found, "nvoice").ID != found.Clusters[0].ID {
		t.Errorf("%+v", found.Clusters)
	}
}

func TestWhatIsExcludedOrOfNothingIsInNoCluster(t *testing.T) {
	t.Parallel()
	if found := find(events(t, 1, alone[:1], alone[1:2], alone[2:3], alone[3:4], alone[4:5], alone[5:6], alone[6:7], alone[7:8])); len(found.Clusters) != 0 || len(found.Of) != 8 {
		t.Errorf("questions of nothing: %+v", found)
	}
	if found := find(nil); len(found.Clusters) != 0 {
		t.Errorf("nothing: %+v", found)
	}
	cases := events(t, 12, reminders)
	for i := range cases {
		cases[i].Excluded = true
	}
	if found := find(cases); len(found.Clusters)+len(found.Of) != 0 {
		t.Errorf("excluded: %+v", found)
	}
	same := events(t, 12, []string{""}, []string{"?"})
	for i := range same {
		same[i].Embedding = nil
	}
	find(same) // events without a word and without a vector do not stop it
}

func TestAClusterKeepsItsIDAndWhatAPersonCalledIt(t *testing.T) {
	t.Parallel()
	all := events(t, 16, reminders, recipes, sitzungen)
	early := all[:30]
	first := find(early)
	for i := range first.Clusters {
		first.Clusters[i].Label, first.Clusters[i].LabelBy = fmt.Sprint("label ", i), learning.ByPerson
	}
	before := holding(t, early, first, "reminder")
	second := find(stored(all, first), first.Clusters...)
	after := holding(t, all, second, "reminder")
	if after.ID != before.ID || after.Label != before.Label || after.LabelBy != learning.ByPerson || after.Size <= before.Size {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	third := find(nil, second.Clusters...)
	if len(active(third)) != 0 || len(third.Clusters) != len(second.Clusters) {
		t.Errorf("without events: %+v", third.Clusters)
	}
}

func TestWhatAPersonRetiredDoesNotComeBack(t *testing.T) {
	t.Parallel()
	cases := events(t, 16, reminders, recipes)
	first := find(cases)
	gone := holding(t, cases, first, "reminder")
	for i := range first.Clusters {
		if first.Clusters[i].ID == gone.ID {
			first.Clusters[i].Status, first.Clusters[i].LabelBy = learning.ClusterRetired, learning.ByPerson
		}
	}
	second := find(stored(cases, first), first.Clusters...)
	if list := active(second); len(list) != 1 || list[0].ID == gone.ID {
		t.Errorf("%+v", list)
	}
	third := find(stored(cases, second), append(active(second), first.Clusters...)...)
	if list := active(third); len(list) != 1 {
		t.Errorf("it is back after a second run: %+v", list)
	}
}

func TestWhatAPersonPutsTogetherOrApartStays(t *testing.T) {
	t.Parallel()
	cases := events(t, 16, reminders, recipes)
	first := find(cases)
	one, other := holding(t, cases, first, "reminder"), holding(t, cases, first, "ecipe")
	var ones, others []int64
	for _, c := range cases {
		switch first.Of[c.ID] {
		case one.ID:
			ones = append(ones, c.ID)
		case other.ID:
			others = append(others, c.ID)
		}
	}
	merged := slices.Clone(first.Clusters)
	for _, id := range others {
		merged[0].Together = append(merged[0].Together, [2]int64{ones[0], id})
	}
	for _, id := range ones {
		merged[0].Together = append(merged[0].Together, [2]int64{ones[0], id})
	}
	second := find(stored(cases, first), merged...)
	if list := active(second); len(list) != 1 || list[0].Size != len(cases) {
		t.Fatalf("merged: %+v", list)
	}
	if third := find(stored(cases, second), second.Clusters...); len(active(third)) != 1 || active(third)[0].ID != active(second)[0].ID {
		t.Errorf("merged, and run again: %+v", active(third))
	}

	split := slices.Clone(first.Clusters)
	for i, a := range ones {
		for _, b := range ones[:i] {
			if (a%4 == 1) != (b%4 == 1) {
				split[0].Apart = append(split[0].Apart, [2]int64{a, b})
			}
		}
	}
	parted := find(stored(cases, first), split...)
	for i, a := range ones {
		for _, b := range ones[:i] {
			if (a%4 == 1) != (b%4 == 1) && parted.Of[a] != "" && parted.Of[a] == parted.Of[b] {
				t.Fatalf("%d and %d are in one cluster", a, b)
			}
		}
	}
}

func TestOlderEventsJoinWhatTheNewestMade(t *testing.T) {
	t.Parallel()
	cases := events(t, 20, reminders, recipes)
	o := cluster.DefaultOptions()
	o.Newest = 32
	found := cluster.Find(cases, nil, owner, "hash-v1", o)
	if len(found.Clusters) != 2 || found.Of[cases[0].ID] == "" || found.Of[cases[0].ID] != found.Of[cases[38].ID] {
		t.Errorf("%+v", found)
	}
}

func TestVectorsOfAnotherEncoderCountForNothing(t *testing.T) {
	t.Parallel()
	cases := events(t, 14, reminders)
	if found := cluster.Find(cases, nil, owner, "static-v2", cluster.DefaultOptions()); len(found.Clusters) != 0 {
		t.Errorf("a cluster that no turn can be compared with: %+v", found.Clusters)
	}
}

func TestAClusterIsNamedByTheWordsItsEventsShare(t *testing.T) {
	t.Parallel()
	for want, templates := range map[string][]string{
		"invoice, overdue, reminder": {
			"Second reminder for %s: the invoice is overdue.", "Reminder for the invoice of %s", "An overdue invoice again: %s",
		},
		"Protokoll, Sitzung, Beschlüsse": sitzungen,
	} {
		label, description := cluster.Label(events(t, 12, templates))
		if label != want || !strings.HasSuffix(description, ".") || strings.Count(description, ".") != 1 {
			t.Errorf("%q, %q; want %q", label, description, want)
		}
	}
	if label, description := cluster.Label(events(t, 3, []string{"And this?"})); label != "" || description != "" {
		t.Errorf("words that say nothing: %q, %q", label, description)
	}
	cases := events(t, 12, []string{"Reminder for the invoice of Northwind"})
	for i := range cases {
		cases[i].UserID = fmt.Sprint("person", i%6)
		if i%6 > 1 {
			cases[i].Question = "Reminder for the invoice"
		}
	}
	if label, _ := cluster.Label(cases); label != "invoice, reminder" {
		t.Errorf("of several people: %q", label)
	}
}

func BenchmarkFind(b *testing.B) {
	var cases []learning.Case
	for i := range 2000 {
		q := filled(slices.Concat(reminders, recipes, sitzungen)[i%9], i) + fmt.Sprint(" number ", i)
		v, _ := embed.Turn(b.Context(), embed.Hash{}, q, "")
		cases = append(cases, learning.Case{Question: q, Event: learning.Event{ID: int64(i), UserID: owner, Embedding: v, Meta: map[string]any{"encoder": "hash-v1"}}})
	}
	for b.Loop() {
		find(cases)
	}
}
