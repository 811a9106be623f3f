package storetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// Artifacts proves artifacts.Store.
func Artifacts(t *testing.T, open Open) {
	t.Run("versions count up and never change", func(t *testing.T) { versions(t, open) })
	t.Run("of many changes from one version one wins", func(t *testing.T) { oneVersion(t, open) })
	t.Run("who may see and change what", func(t *testing.T) { visibility(t, open) })
	t.Run("names are one per owner and kind, one's own before the global", func(t *testing.T) { artifactNames(t, open) })
	t.Run("seeding never goes over a person's edit", func(t *testing.T) { seeding(t, open) })
	t.Run("artifacts are listed in pages and narrowed", func(t *testing.T) { listArtifacts(t, open) })
}

func doc(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"kind":"workflow.chat","n":%d}`, n))
}

func draft(name string) artifacts.Artifact {
	return artifacts.Artifact{Type: artifacts.KindWorkflow, Name: name, Description: "d", Schema: doc(1), CreatedBy: "user"}
}

func versions(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	a := got(s.CreateArtifact(t.Context(), v, draft("w"), "first"))(t)
	want(t, "version", a.Version, 1)
	want(t, "owner", a.OwnerID, v.UserID)
	b := got(s.AppendVersion(t.Context(), v, a.ID, 1, doc(2), "llm", "second"))(t)
	want(t, "version", b.Version, 2)
	want(t, "stored", fmt.Sprintf("%+v", got(s.Artifact(t.Context(), v, a.ID))(t)), fmt.Sprintf("%+v", b))
	list := got(s.Versions(t.Context(), v, a.ID))(t)
	want(t, "versions", fmt.Sprint(len(list), list[0].Version, list[1].Version), "2 2 1")
	want(t, "note and author", list[0].ChangeNote+list[0].CreatedBy+list[1].ChangeNote+list[1].CreatedBy, "secondllmfirstuser")
	want(t, "first version's document", string(list[1].Schema), string(doc(1)))
	want(t, "it alone", fmt.Sprintf("%+v", got(s.VersionOf(t.Context(), v, a.ID, 1))(t)), fmt.Sprintf("%+v", list[1]))
	_, err := s.VersionOf(t.Context(), v, a.ID, 3)
	wantFault(t, err, fault.NotFound)
	_, err = s.VersionOf(t.Context(), person(t, s), a.ID, 1)
	wantFault(t, err, fault.NotFound)
}

func oneVersion(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	a := got(s.CreateArtifact(t.Context(), v, draft("w"), ""))(t)
	errs := race(writers, func(i int) error {
		_, err := s.AppendVersion(t.Context(), v, a.ID, 1, doc(i), "user", "")
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	want(t, "versions", len(got(s.Versions(t.Context(), v, a.ID))(t)), 2)
}

func visibility(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other, admin := person(t, s), person(t, s), administrator(t, s)
	private := got(s.CreateArtifact(t.Context(), v, draft("mine"), ""))(t)
	for _, who := range []identity.Viewer{other, admin} {
		_, err := s.Artifact(t.Context(), who, private.ID)
		wantFault(t, err, fault.NotFound)
		_, err = s.Versions(t.Context(), who, private.ID)
		wantFault(t, err, fault.NotFound)
		_, err = s.AppendVersion(t.Context(), who, private.ID, 1, doc(2), "user", "")
		wantFault(t, err, fault.NotFound)
	}
	global := draft("everyone's")
	global.Visibility = "global"
	_, err := s.CreateArtifact(t.Context(), v, global, "")
	wantFault(t, err, fault.Forbidden)
	global = got(s.CreateArtifact(t.Context(), admin, global, ""))(t)
	want(t, "owner of a global artifact", global.OwnerID, "")
	got(s.Artifact(t.Context(), v, global.ID))(t)
	_, err = s.AppendVersion(t.Context(), v, global.ID, 1, doc(2), "user", "")
	wantFault(t, err, fault.Forbidden)
	got(s.AppendVersion(t.Context(), admin, global.ID, 1, doc(2), "user", ""))(t)
}

func artifactNames(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other, admin := person(t, s), person(t, s), administrator(t, s)
	global := draft("default")
	global.Visibility = "global"
	global = got(s.CreateArtifact(t.Context(), admin, global, ""))(t)
	want(t, "named", got(s.ArtifactNamed(t.Context(), v, artifacts.KindWorkflow, "default"))(t).ID, global.ID)
	own := got(s.CreateArtifact(t.Context(), v, draft("default"), ""))(t)
	want(t, "named", got(s.ArtifactNamed(t.Context(), v, artifacts.KindWorkflow, "default"))(t).ID, own.ID)
	want(t, "named by another", got(s.ArtifactNamed(t.Context(), other, artifacts.KindWorkflow, "default"))(t).ID, global.ID)
	_, err := s.CreateArtifact(t.Context(), v, draft("default"), "")
	wantFault(t, err, fault.Conflict)
	if d, _ := fault.From(err).Details.(map[string]any); d["field"] != "name" {
		t.Errorf("details are %v, want the field name", d)
	}
	_, err = s.ArtifactNamed(t.Context(), v, artifacts.KindPolicy, "default")
	wantFault(t, err, fault.NotFound)
}

func seeding(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, admin := person(t, s), administrator(t, s)
	seeds := func(n int) []artifacts.Seed {
		return []artifacts.Seed{{Type: artifacts.KindWorkflow, Name: "kept", Schema: doc(n)}, {Type: artifacts.KindWorkflow, Name: "edited", Schema: doc(n)}}
	}
	named := func(name string) artifacts.Artifact {
		return got(s.ArtifactNamed(t.Context(), v, artifacts.KindWorkflow, name))(t)
	}
	errs := race(8, func(int) error { return s.Seed(t.Context(), identity.System(), seeds(1)) })
	want(t, "seeded", winners(t, errs, fault.Conflict), 8)
	need(t, s.Seed(t.Context(), identity.System(), []artifacts.Seed{{Type: artifacts.KindWorkflow, Name: "kept", Schema: json.RawMessage(` { "n":1, "kind":"workflow.chat"}`)}}))
	want(t, "version after the same seed", named("kept").Version, 1)
	got(s.AppendVersion(t.Context(), admin, named("edited").ID, 1, doc(100), "user", "mine"))(t)
	need(t, s.Seed(t.Context(), identity.System(), seeds(2)))
	want(t, "kept", fmt.Sprint(named("kept").Version, string(named("kept").Schema), named("kept").CreatedBy), "2"+string(doc(2))+"system")
	want(t, "edited", fmt.Sprint(named("edited").Version, string(named("edited").Schema)), "2"+string(doc(100)))
	wantFault(t, s.Seed(t.Context(), admin, seeds(3)), fault.Forbidden)
}

func listArtifacts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	need(t, s.Seed(t.Context(), identity.System(), []artifacts.Seed{{Type: artifacts.KindPolicy, Name: "p", Schema: doc(1)}}))
	got(s.CreateArtifact(t.Context(), other, draft("theirs"), ""))(t)
	for i := range 5 {
		got(s.CreateArtifact(t.Context(), v, draft(fmt.Sprint("w", i)), ""))(t)
	}
	list := func(f artifacts.Filter) (names []string) {
		for {
			page, next, err := s.ListArtifacts(t.Context(), v, f)
			need(t, err)
			for _, a := range page {
				names = append(names, a.Name)
			}
			if f.Cursor = next; next == "" {
				return names
			}
		}
	}
	wantLines(t, list(artifacts.Filter{Limit: 2}), []string{"w4", "w3", "w2", "w1", "w0", "p"})
	wantLines(t, list(artifacts.Filter{Type: artifacts.KindPolicy}), []string{"p"})
	wantLines(t, list(artifacts.Filter{Visibility: "global"}), []string{"p"})
	_, err := s.Artifact(t.Context(), v, id.New())
	wantFault(t, err, fault.NotFound)
}
