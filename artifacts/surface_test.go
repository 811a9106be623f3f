package artifacts_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// surfacesOf are the surfaces of a stocked library whose sources are set up, and
// whose operator says what setting says.
func surfacesOf(t *testing.T, ready *bool, setting artifacts.SurfaceSetting) (*artifacts.Library, *artifacts.Surfaces) {
	t.Helper()
	library, _ := stocked(t)
	return library, artifacts.NewSurfaces(library, artifacts.SurfaceOptions{
		Setting:   func(string) (artifacts.SurfaceSetting, error) { return setting, nil },
		HasSecret: func(context.Context, string) (bool, error) { return *ready, nil },
	})
}

// Requirements: GRND-02 (disabled), GRND-27 (30 and 1000; settings), GRND-30 (redacted by default), SAFE-07 (figures; both configurable)
func TestTheSurfaceOfThePackIsThereWhereItsSourceIs(t *testing.T) {
	t.Parallel()
	ready := true
	_, surfaces := surfacesOf(t, &ready, artifacts.SurfaceSetting{})
	got, err := surfaces.At(t.Context(), "paliadin")
	want := artifacts.SurfaceLimits{Hourly: 30, Hint: 25, GlobalHourly: 1000, InputTokens: 4000, RefuseTokens: 6000, OutputTokens: 2000}
	if err != nil || got.Limits != want || got.Audit != artifacts.AuditRedacted || got.API != artifacts.SurfaceGrounded || got.Icon != "sparkle" || got.Name != "paliadin" {
		t.Fatalf("%+v, %v", got, err)
	}
	ready = false
	surfaces.Forget()
	if _, err := surfaces.At(t.Context(), "paliadin"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("without its source: %v", err)
	}
	off, ready := false, true
	_, surfaces = surfacesOf(t, &ready, artifacts.SurfaceSetting{Enabled: &off})
	if all, err := surfaces.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("switched off: %+v, %v", all, err)
	}
	_, surfaces = surfacesOf(t, &ready, artifacts.SurfaceSetting{Hourly: 60, GlobalHourly: 7, InputTokens: 8000, OutputTokens: 500, Audit: "full", Model: "m"})
	got, err = surfaces.At(t.Context(), "paliadin")
	want = artifacts.SurfaceLimits{Hourly: 60, Hint: 50, GlobalHourly: 7, InputTokens: 8000, RefuseTokens: 12000, OutputTokens: 500}
	if err != nil || got.Limits != want || got.Audit != "full" || got.Model != "m" {
		t.Errorf("as the operator has it: %+v, %v", got, err)
	}
}

func surfaceDoc(surface string) json.RawMessage {
	return json.RawMessage(`{"kind":"workflow.chat","title":"T","surface":` + surface + `,"entrypoint":"end","nodes":[{"id":"end","type":"end","response":"Done."}]}`)
}

// A firm's own surface needs no code: a document that is everybody's.
func TestASurfaceIsADocumentThatIsEverybodys(t *testing.T) {
	t.Parallel()
	ready := true
	library, surfaces := surfacesOf(t, &ready, artifacts.SurfaceSetting{})
	root := identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
	doc := surfaceDoc(`{"title":{"en":"Desk"},"path":"front-desk","order":1}`)
	paths := func() (list []string) {
		all, err := surfaces.All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			list = append(list, one.Path)
		}
		return list
	}
	before := paths()
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: artifacts.KindWorkflow, Name: "mine", Schema: doc}); err != nil {
		t.Fatal(err)
	}
	if got := paths(); !slices.Equal(got, before) {
		t.Errorf("a document of one person's is at %v", got)
	}
	if _, err := library.Create(t.Context(), root, artifacts.Draft{Type: artifacts.KindWorkflow, Name: "desk", Visibility: artifacts.Global, Schema: doc}); err != nil {
		t.Fatal(err)
	}
	if got := paths(); !slices.Equal(got, append([]string{"front-desk"}, before...)) {
		t.Errorf("the surfaces are %v", got)
	}
	for surface, want := range map[string]string{
		`{"title":{"en":"D"},"path":"login"}`:                                                "something else here",
		`{"title":{"en":"D"},"path":"Desk"}`:                                                 "/surface/path",
		`{"title":{"en":"D"},"path":"de","limits":{"input_tokens":500,"refuse_tokens":400}}`: "refuse_tokens",
		`{"title":{"en":"D"},"path":"de","limits":{"hourly":3,"hint":4}}`:                    "hint",
		`{"title":{"en":"D"},"path":"de","api":"telnet"}`:                                    "/surface/api",
	} {
		err := library.Check(t.Context(), root, artifacts.KindWorkflow, surfaceDoc(surface))
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", surface, err)
		}
	}
}

// The example of the page about surfaces is one.
func TestTheGuidesSurfaceIsAccepted(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	page, err := os.ReadFile("../docs/surfaces.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```json\n")
	doc, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("there is no example")
	}
	root := identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
	if err := library.Check(t.Context(), root, artifacts.KindWorkflow, json.RawMessage(doc)); err != nil {
		t.Errorf("%v %v", err, artifacts.Problems(err))
	}
	if s, has := artifacts.SurfaceOf(json.RawMessage(doc)); !has || s.Path != "front-desk" || s.Limits.Hourly != 30 {
		t.Errorf("%+v", s)
	}
}
