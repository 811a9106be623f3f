package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// counted is a library that counts how often a version is read.
type counted struct {
	activities.Library
	reads  atomic.Int32
	broken error
}

func (c *counted) At(ctx context.Context, v identity.Viewer, id string, version int) (artifacts.Artifact, error) {
	c.reads.Add(1)
	if c.broken != nil {
		return artifacts.Artifact{}, c.broken
	}
	return c.Library.At(ctx, v, id, version)
}

// asking is a set with a tool that tells what it was told.
func asking(t *testing.T) (*activitiestest.World, *activities.Set, *counted, *tool.Call) {
	t.Helper()
	told := &tool.Call{}
	w := activitiestest.New(`{}`).Tool("say", tool.Spec{}, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		*told = *c
		return map[string]any{}, nil
	})
	set := w.Set()
	library := &counted{Library: set.Artifacts}
	set.Artifacts, set.Backend = library, "openai"
	return w, set, library, told
}

func pin(id string, version int) run.Pin { return run.Pin{ArtifactID: id, Version: version} }

func input(policies []run.Pin, adapters ...activities.AdapterPin) activities.CallInput {
	return activities.CallInput{
		Run: activities.RunInput{RunID: "r", Viewer: activitiestest.Viewer}, Tool: run.Pin{Name: "say"}, Effect: "a#1",
		Models: policies, Adapters: adapters,
	}
}

// Requirements: LORA-26, PLAT-08
func TestAPinnedVersionIsReadOnce(t *testing.T) {
	t.Parallel()
	w, set, library, told := asking(t)
	for version, name := range map[int]string{1: "one", 2: "two"} {
		w.Put(artifacts.Artifact{ID: "p", Version: version, Schema: json.RawMessage(
			`{"default":{"tier":"x"},"backends":{"openai":{"x":"` + name + `"}}}`)})
	}
	for range 3 {
		if _, err := set.Call(t.Context(), input([]run.Pin{pin("p", 1)})); err != nil {
			t.Fatal(err)
		}
		if got := told.Choose("chat").Model; got != "one" {
			t.Errorf("it was told to ask %q", got)
		}
	}
	if _, err := set.Call(t.Context(), input([]run.Pin{pin("p", 2)})); err != nil || told.Choose("chat").Model != "two" {
		t.Error(err, told.Choose("chat"))
	}
	if n := library.reads.Load(); n != 2 {
		t.Errorf("two versions were read %d times", n)
	}
}

// Requirements: LORA-06, LORA-10 (instructions on an API backend)
func TestAnAdapterIsToldAsItWasPinned(t *testing.T) {
	t.Parallel()
	w, set, _, told := asking(t)
	w.Put(artifacts.Artifact{ID: "a", Version: 1, Schema: json.RawMessage(
		`{"kind":"adapter.lora","type":"persona","backend":"local","fs_dir":"adapters/a","remote_model_id":"m","remote_adapter_id":"r","prompt_instructions":"Be brief."}`)})
	w.Put(artifacts.Artifact{ID: "b", Version: 4, FSPath: "adapters/b", Schema: json.RawMessage(`{"kind":"adapter.lora","type":"skill","backend":"api","remote_model_id":"m"}`)})
	_, err := set.Call(t.Context(), input(nil,
		activities.AdapterPin{Pin: pin("a", 1), Weight: 0.5}, activities.AdapterPin{Pin: pin("gone", 1), Weight: 0.3}, activities.AdapterPin{Pin: pin("b", 4), Weight: 0.2}))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Adapter{
		{ID: "a", Mode: model.ModeHybrid, Dir: "adapters/a", RemoteModelID: "m", RemoteID: "r", Persona: true, Instructions: "Be brief.", Weight: 0.5},
		{ID: "b", Mode: model.ModeRemote, Dir: "adapters/b", RemoteModelID: "m", Weight: 0.2},
	}
	if !reflect.DeepEqual(told.Adapters, want) {
		t.Errorf("%+v", told.Adapters)
	}
}

// What a person writes of their adapter opens their own weights and everybody's,
// and not what another person's adapter learnt.
//
// Requirements: LORA-15 (below its owner), LORA-16
func TestAnAdapterOpensNoOtherPersonsWeights(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	for n, c := range []struct{ owner, dir, opens string }{
		{"u1", "users/u1/adapters/a", "users/u1/adapters/a"},
		{"u1", "/users/u1/adapters/a", "users/u1/adapters/a"},
		{"u1", "shared/adapters/a", "shared/adapters/a"},
		{"u1", "users/u2/adapters/a", ""},
		{"u1", "users/u1/../u2/adapters/a", ""},
		{"u1", "users/u10/adapters/a", ""},
		{"u1", "temporal", ""},
		{"", "users/u2/adapters/a", "users/u2/adapters/a"},
	} {
		w, set, _, told := asking(t)
		w.Put(artifacts.Artifact{ID: "a", OwnerID: c.owner, Version: 1, Schema: json.RawMessage(
			`{"kind":"adapter.lora","current_version":3,"checksum":"sha256:` + sum + `","fs_dir":"` + c.dir + `"}`)})
		if _, err := set.Call(t.Context(), input(nil, activities.AdapterPin{Pin: pin("a", 1), Weight: 1})); err != nil {
			t.Fatal(err)
		}
		if a := told.Adapters[0]; a.Dir != c.opens || a.Version != 3 || a.Checksum != sum {
			t.Errorf("%d: %s's adapter in %s opens %+v", n, c.owner, c.dir, a)
		}
	}
}

// What is gone since the run began costs the run nothing but itself; a store
// that is away is tried again.
func TestAPinThatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, set, library, told := asking(t)
	if _, err := set.Call(t.Context(), input([]run.Pin{pin("gone", 1)})); err != nil || told.Choose != nil {
		t.Error(err)
	}
	library.broken = fault.New(fault.Internal, "The store is away.")
	if _, err := set.Call(t.Context(), input([]run.Pin{pin("gone", 1)})); !errors.Is(err, fault.Internal) {
		t.Error(err)
	}
}

// lessonBook is what a person's lessons say, by id; what is removed is not there.
type lessonBook map[string]string

func (k lessonBook) Tell(_ context.Context, _ identity.Viewer, lessons []string, examples []int64, locale string) (adaptation.Manner, error) {
	var m adaptation.Manner
	for _, id := range lessons {
		if text, there := k[id]; there {
			m.Instructions += text + " (" + locale + ")"
			m.Lessons = append(m.Lessons, id)
			m.Directives = append(m.Directives, model.Directive{Kind: model.DirectiveLength, Value: "short"})
		}
	}
	if len(examples) > 0 && k["example"] != "" {
		m.Instructions += k["example"]
	}
	return m, nil
}

// What an adapter lists by id is read each time a model is asked, though the
// version is read once: what was removed is not told to it.
func TestLessonsAreReadEachTimeAModelIsAsked(t *testing.T) {
	t.Parallel()
	w, set, library, told := asking(t)
	lessons := lessonBook{"l1": "Keep answers short."}
	set.Lessons = lessons
	w.Put(artifacts.Artifact{ID: "a", Version: 1, Schema: json.RawMessage(
		`{"kind":"adapter.lora","mode":"hybrid","prompt_instructions":"Be kind.","lessons":["gone","l1"],"examples":[7]}`)})
	in := input(nil, activities.AdapterPin{Pin: pin("a", 1), Weight: 0.5})
	in.Scope.Locale = "de"
	want := model.Adapter{ID: "a", Mode: model.ModeHybrid, Weight: 0.5, Instructions: "Be kind.\n\nKeep answers short. (de)",
		Directives: []model.Directive{{Kind: model.DirectiveLength, Value: "short"}}}
	if r, err := set.Call(t.Context(), in); err != nil || !reflect.DeepEqual(told.Adapters, []model.Adapter{want}) || !slices.Equal(r.Lessons, []string{"l1"}) {
		t.Errorf("told %+v of %v (%v), want %+v", told.Adapters, r.Lessons, err, want)
	}
	delete(lessons, "l1")
	want.Instructions, want.Directives = "Be kind.", nil
	if r, err := set.Call(t.Context(), in); err != nil || !reflect.DeepEqual(told.Adapters, []model.Adapter{want}) || r.Lessons != nil {
		t.Errorf("the lesson is gone, and it is told %+v (%v)", told.Adapters, err)
	}
	if n := library.reads.Load(); n != 1 {
		t.Errorf("one version was read %d times", n)
	}
}
