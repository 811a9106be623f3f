package learning

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

func TestTheNumbersThatShipAreThoseWithoutAPolicy(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../artifacts/defaults/policy.learning/default.json")
	if err != nil {
		t.Fatal(err)
	}
	var shipped Policy
	if err := json.Unmarshal(doc, &shipped); err != nil || !reflect.DeepEqual(shipped, DefaultPolicy()) {
		t.Errorf("the document says %+v, the program %+v (%v)", shipped, DefaultPolicy(), err)
	}
	p, err := ReadPolicy(json.RawMessage(`{"gate":{"sure":0.95},"skills":{"layers":[7]}}`))
	want := DefaultPolicy()
	want.Gate.Sure, want.Skills.Layers = 0.95, []int{7}
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("read %+v, want %+v (%v)", p, want, err)
	}
}
