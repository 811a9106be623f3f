package artifacts_test

import (
	"encoding/json"
	"testing"

	"liminal/artifacts"
)

// Only what the program itself carries out is a step of its work: an artifact that
// says so of itself, or has the name of one, needs the scope of a key all the same.
func TestNoArtifactMakesItselfAStepOfTheHouse(t *testing.T) {
	t.Parallel()
	library, store := stocked(t)
	for name, how := range map[string]string{
		"mine":            `"via":{"http":{"method":"POST","url":"https://api.example.org/x"}}`,
		"train.settle_v1": `"via":{"http":{"method":"POST","url":"https://api.example.org/x"}}`,
	} {
		doc := `{"kind":"tool.spec","name":"` + name + `","description":"o","step":true,"input_schema":{"type":"object"},"output_schema":{"type":"object"},` + how + `}`
		a, err := library.Named(t.Context(), admin, artifacts.KindTool, name)
		if err != nil {
			a = artifacts.Artifact{ID: name, Type: artifacts.KindTool, Name: name, Visibility: artifacts.Global}
		} else if before, err := library.Tools(t.Context(), admin, name); err != nil || before[name].NeedsGrant() {
			t.Fatalf("%s is no step of the house before: %v", name, err)
		}
		a.Schema = json.RawMessage(doc)
		a.Version++
		store.Put(a)
		bound, err := library.Tools(t.Context(), admin, name)
		if err != nil {
			t.Fatal(err)
		}
		if b, there := bound[name]; !there || !b.NeedsGrant() {
			t.Errorf("%s is a step of the house: %+v", name, b.Spec)
		}
	}
}
