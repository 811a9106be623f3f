package activities

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// What the workflow reads of an opening is JSON; asRead reads only the members
// again that JSON may change. A member that may hold any type of value must be
// one of those.
func TestAnOpeningIsReadAsItsHistoryIs(t *testing.T) {
	o := Opened{
		Graph: json.RawMessage("{ \"nodes\": [], \"note\": \"1 < 2\" }"), Digest: "d", MaxEffects: 3, Speech: time.Second,
		Tools: map[string]ToolPin{"t": {Tool: graph.Tool{Name: "t", Outputs: []string{"a"}, Approval: &graph.Approval{Message: map[string]any{"en": "May it?"}}}, Version: 2}},
		Pins:  []run.Pin{{ArtifactID: "a", Version: 1}},
		Input: map[string]any{"n": 1, "list": []string{"a"}, "at": time.Second}, Persisted: map[string]any{"k": int64(2)},
		Conversation: map[string]any{"id": "c"}, User: map[string]any{"plan": "free"},
		Scope: tool.Scope{Locale: "de", ContextIDs: []string{"x"}}, Routing: json.RawMessage(`{}`), Judged: &Judged{Rules: []string{"r"}}, Budget: &graph.Budget{Runs: 1},
	}
	history, err := asRead(o)
	if err != nil {
		t.Fatal(err)
	}
	read, err := o.asRead()
	if err != nil || !reflect.DeepEqual(read, history) {
		t.Errorf("read %+v, %v; its history has %+v", read, err, history)
	}
	if _, list := o.Input["list"].([]string); !list {
		t.Error("the opening itself was changed")
	}

	var anyValued func(at string, of reflect.Type)
	anyValued = func(at string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Interface:
			t.Errorf("%s may hold any value: asRead must read it again", at)
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			anyValued(at, of.Elem())
		case reflect.Struct:
			for f := range of.Fields() {
				anyValued(at+"."+f.Name, f.Type)
			}
		}
	}
	again := []string{"Input", "Persisted", "Conversation", "User"}
	for f := range reflect.TypeFor[Opened]().Fields() {
		if f.Name == "Tools" { // graph.Approval.Message is text by language
			continue
		}
		if !slices.Contains(again, f.Name) {
			anyValued(f.Name, f.Type)
		}
	}
}
