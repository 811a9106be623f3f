package activities_test

import (
	"fmt"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/tool"
)

const after = `{"kind":"workflow.chat","entrypoint":"b","nodes":[{"id":"b","type":"end","response":"new"}]}`

// onTrial is a world whose version 2 of the default workflow is on trial.
func onTrial(share int) *activitiestest.World {
	w := activitiestest.New(after)
	w.Version, w.Old = 2, map[string]string{"default": `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"end","response":"old"}]}`}
	w.Rollout = &artifacts.Rollout{Patch: 7, From: 1, Share: share}
	return w
}

// opened opens a run and tells the version it is pinned to; its graph must be
// that version's.
func opened(t *testing.T, w *activitiestest.World, in activities.RunInput) int {
	t.Helper()
	o, err := w.Set().Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	version := o.Pins[0].Version
	if isNew := string(o.Graph) == after; isNew != (version == 2) {
		t.Fatalf("the run is pinned to version %d and follows %s", version, o.Graph)
	}
	return version
}

// The draw is a hash of ids, so these figures are the same every time.
//
// Requirements: CFG-11, PLAT-08
func TestATrialTakesItsShareOfNewRuns(t *testing.T) {
	t.Parallel()
	const runs = 1000
	for share, want := range map[int]int{1: 13, 10: 115, 25: 240, 50: 498, 99: 988} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			w := onTrial(share)
			tried := 0
			for range runs {
				if opened(t, w, w.Run(run.KindGraph, activities.GraphInput{Artifact: "default"})) == 2 {
					tried++
				}
			}
			if tried != want {
				t.Errorf("%d of %d runs took the version on trial, want %d", tried, runs, want)
			}
		})
	}
}

// Requirements: CFG-11, PLAT-08
func TestAConversationKeepsToOneVersionDuringATrial(t *testing.T) {
	t.Parallel()
	w := onTrial(50)
	seen := map[int]bool{}
	for i := range 20 {
		w.Thread.ID = fmt.Sprint("conversation ", i)
		first := opened(t, w, w.Chat("hello", chat.TurnInput{}))
		seen[first] = true
		for range 5 {
			if again := opened(t, w, w.Chat("hello", chat.TurnInput{})); again != first {
				t.Errorf("the conversation %d went from version %d to %d", i, first, again)
			}
		}
		child := w.Chat("hello", chat.TurnInput{})
		child.Child = &activities.ChildInput{Workflow: "default", Opened: &activities.Opened{Scope: tool.Scope{ConversationID: w.Thread.ID}}}
		if version := opened(t, w, child); version != first {
			t.Errorf("a child follows version %d beside its parent's %d", version, first)
		}
	}
	if len(seen) != 2 {
		t.Errorf("twenty conversations took only the versions %v", seen)
	}
}

// Requirements: CFG-11, PLAT-08, DATA-11
func TestAPolicyOnTrialIsTakenByConversationAndItsChoicesAreNotMixed(t *testing.T) {
	t.Parallel()
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 2, "persona", "0.2")},
		old:      map[string]artifacts.Artifact{"old": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}
	r := activities.NewRouter(s, routing.Backend{}, nil)
	r.Remember(inproc.NewCache(0))
	in := activities.RouteInput{Vector: []float32{1, 0}, ArtifactIDs: []string{"p"}}
	for _, key := range []string{"new", "old", "old", "new", "new", "old"} {
		in.Key = key
		got, pins := route(t, r, identity.Viewer{UserID: "ann"}, in)
		version, weight := 2, 0.2
		if key == "old" {
			version, weight = 1, 0.5
		}
		if got.Policy.Version != version || pins[0].Version != version || got.Gates["p"] != weight {
			t.Errorf("a %s conversation is routed by version %d with %v", key, got.Policy.Version, got.Gates)
		}
	}
}

// An adapter that a request names is taken like one that is found: at the
// version of the conversation.
func TestAnAdapterOnTrialIsTakenByConversationAlsoByName(t *testing.T) {
	t.Parallel()
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 5, artifacts.KindAdapter, persona)},
		old:      map[string]artifacts.Artifact{"old": document("p", 4, artifacts.KindAdapter, persona)},
	}
	r := activities.NewRouter(s, routing.Backend{}, nil)
	r.Remember(inproc.NewCache(0))
	for _, key := range []string{"new", "old", "new", "old"} {
		got, err := r.Route(t.Context(), identity.Viewer{UserID: "ann"}, activities.RouteInput{Vector: []float32{1, 0}, ArtifactIDs: []string{"p"}, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"new": 5, "old": 4}[key]; len(got.Adapters) != 1 || got.Adapters[0].Version != want {
			t.Errorf("a %s conversation takes %+v", key, got.Adapters)
		}
	}
}
