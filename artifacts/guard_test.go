package artifacts_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"liminal/artifacts"
)

// Requirements: CFG-11
func TestTheHouseJudgesWhereTheArtifactDoesNot(t *testing.T) {
	t.Parallel()
	house := artifacts.House()
	for doc, want := range map[string]artifacts.Guard{
		hello:              house,
		`{"rehearsal":{}}`: house,
		`{"rehearsal":7}`:  house,
		`{"rehearsal":{"block":[{"when":"true"}],"sample":9}}`: func() artifacts.Guard {
			g := artifacts.House()
			g.Block, g.Sample = []artifacts.Rule{{When: "true"}}, 9
			return g
		}(),
	} {
		if got, _ := artifacts.GuardOf(json.RawMessage(doc)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", doc, got)
		}
	}
	figures := object{"runs": object{"before": 50.0, "after": 40.0}, "failed_share": object{"before": 0.1, "after": 0.3}}
	met, err := house.RollBack[0].Holds(figures)
	few := maps.Clone(figures)
	few["runs"] = object{"after": 3.0}
	if unmet, _ := house.RollBack[0].Holds(few); !met || err != nil || unmet {
		t.Errorf("%v %v %v", met, unmet, err)
	}
}
