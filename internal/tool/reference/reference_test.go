package reference_test

import (
	"encoding/json"
	"slices"
	"testing"

	"liminal/internal/tool/reference"
)

func read(t *testing.T, doc string, depth int) reference.Object {
	t.Helper()
	o, err := reference.Read(json.RawMessage(doc), depth)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAFieldSaysItsTypeItsBoundsAndWhatStandsForIt(t *testing.T) {
	t.Parallel()
	o := read(t, `{"type":"object","required":["to"],"additionalProperties":false,"properties":{
		"limit":{"type":"integer","minimum":1,"maximum":20,"description":"how many pages at most; 5 without"},
		"to":{"type":"string","minLength":1,"maxLength":60,"description":"where to; never without"},
		"class":{"type":["string","null"],"enum":["first","second",null],"default":"second"},
		"ids":{"anyOf":[{"type":"null"},{"type":"array","maxItems":9,"items":{"type":"string"}}],"description":"which"},
		"by":{"type":"array","items":{"enum":["rail","bus"]}},
		"more":{"type":"object","maxProperties":3},
		"code":{"type":"string","pattern":"^[a-z]+$"},
		"when":{"type":"string","format":"date"}
	}}`, 1)
	want := []reference.Field{
		{Name: "to", Type: "string", Required: true, Bounds: "1 to 60 characters", About: "where to; never without"},
		{Name: "by", Type: "array of string", Allowed: []string{"rail", "bus"}},
		{Name: "class", Type: "string or null", Allowed: []string{"first", "second", "null"}, Default: "second"},
		{Name: "code", Type: "string", Bounds: "matches ^[a-z]+$"},
		{Name: "ids", Type: "null or array of string", Bounds: "at most 9 items", About: "which"},
		{Name: "limit", Type: "integer", Bounds: "1 to 20", Default: "5", About: "how many pages at most"},
		{Name: "more", Type: "object", Bounds: "at most 3 members"},
		{Name: "when", Type: "string", Bounds: "date"},
	}
	if o.Others || len(o.Fields) != len(want) {
		t.Fatalf("others %v, fields %+v", o.Others, o.Fields)
	}
	for i := range want {
		if got := o.Fields[i]; got.Name != want[i].Name || got.Type != want[i].Type || got.Required != want[i].Required || got.Bounds != want[i].Bounds ||
			got.Default != want[i].Default || got.About != want[i].About || !slices.Equal(got.Allowed, want[i].Allowed) {
			t.Errorf("got  %+v\nwant %+v", got, want[i])
		}
	}
}

func TestMembersOfMembersStandBehindThemDownToADepth(t *testing.T) {
	t.Parallel()
	const doc = `{"type":"object","properties":{"passages":{"type":"array","items":{"type":"object","required":["text"],
		"properties":{"text":{"type":"string"},"place":{"$ref":"#/definitions/place"}}}}},
		"definitions":{"place":{"type":"object","properties":{"page":{"type":"integer"},"within":{"$ref":"#/definitions/place"}}}}}`
	names := func(depth int) (out []string) {
		for _, f := range read(t, doc, depth).Fields {
			out = append(out, f.Name+": "+f.Type)
		}
		return out
	}
	if got := names(1); !slices.Equal(got, []string{"passages: array of object"}) {
		t.Errorf("at depth 1: %q", got)
	}
	want := []string{"passages: array of object", "passages[].text: string", "passages[].place: object", "passages[].place.page: integer", "passages[].place.within: object"}
	if got := names(3); !slices.Equal(got, want) {
		t.Errorf("at depth 3: %q", got)
	}
}

func TestWhatHasNoMembersSaysWhatItMayBe(t *testing.T) {
	t.Parallel()
	if o := read(t, `{"type":"object","maxProperties":100,"description":"anything"}`, 2); !o.Others || o.Bounds != "at most 100 members" || o.About != "anything" || len(o.Fields) != 0 {
		t.Errorf("%+v", o)
	}
	if _, err := reference.Read(json.RawMessage(`[]`), 1); err == nil {
		t.Error("a list was read as a schema")
	}
}

// A schema may refer to itself in a circle; it is looked at only so far.
func TestACircleOfReferencesEnds(t *testing.T) {
	t.Parallel()
	o := read(t, `{"type":"object","properties":{"a":{"$ref":"#/definitions/a"}},"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}`, 9)
	if len(o.Fields) != 1 || o.Fields[0].Type != "any" {
		t.Errorf("%+v", o)
	}
}
