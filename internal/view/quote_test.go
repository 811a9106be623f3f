package view

import (
	"fmt"
	"strings"
	"testing"
)

// What is set aside and wanted all the same is said once more at the end of a new message,
// and stays there; what stood before is not touched.
//
// palace.md, 7: quote
func TestWhatIsWantedIsQuotedInANewMessage(t *testing.T) {
	t.Parallel()
	said := strings.Repeat("what a file says ", 100)
	const uses = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a.go"}}]}`
	history := `{"role":"user","content":"go"},` + uses + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + quoted(said) + `}]},{"role":"assistant","content":"done"}`
	read := func(messages string) *Body {
		t.Helper()
		b, err := ReadBody([]byte(`{"tools":[],"messages":[` + messages + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	aside := []Replacement{{Result: "t1", Block: "1-7f3a", Label: "Read a.go"}}
	for name, last := range map[string]string{
		"a text": `{"role":"user","content":"and \"now\"?"}`,
		"a list": `{"role":"user","content":[{"type":"text","text":"and \"now\"?","cache_control":{"type":"ephemeral"}}]}`,
	} {
		b := read(history + "," + last)
		list := b.Quotes([]string{"t1", "t1", "unknown"}, aside, nil)
		if len(list) != 1 || list[0].At != 4 || list[0].Block != "1-7f3a" {
			t.Fatalf("%s: %+v", name, list)
		}
		if more := b.Quotes([]string{"t1"}, aside, list); more != nil {
			t.Errorf("%s: it is quoted twice: %+v", name, more)
		}
		// The same goes on with the next requests, whatever the client marks.
		for _, b := range []*Body{b, read(history + `,{"role":"user","content":[{"text":"and \"now\"?","type":"text"}]},{"role":"assistant","content":"yes"},{"role":"user","content":"more"}`)} {
			edits, added := b.Quoted(list)
			is, err := b.Edited(edits)
			if err == nil {
				err = Valid(b, is, Allowed{Quoted: added})
			}
			if err != nil || len(edits) != 1 {
				t.Fatalf("%s: %v", name, err)
			}
			parts := is.Messages[4].Parts
			if len(parts) != 2 || !strings.Contains(string(is.Of(parts[1].Span)), "[palace: block 1-7f3a was set aside above, and its person wants it seen: Read a.go]\\n"+said[:100]) {
				t.Errorf("%s: %s", name, is.Of(is.Messages[4].Span))
			}
			if Valid(b, is, Allowed{}) == nil || Valid(b, is, Allowed{Quoted: map[int]int{4: 2}}) == nil {
				t.Errorf("%s: a part that nobody allowed may be added", name)
			}
		}
	}
	now := `,{"role":"user","content":"and?"}`
	list := read(history+now).Quotes([]string{"t1"}, aside, nil)
	for name, b := range map[string]*Body{
		"another message in its place": read(history + `,{"role":"user","content":"or?"}`),
		"a history that is cut":        read(`{"role":"user","content":"go"}`),
		"a history without the result": read(`{"role":"user","content":"1"},{"role":"assistant","content":"2"},{"role":"user","content":"3"},{"role":"assistant","content":"4"}` + now),
	} {
		if edits, _ := b.Quoted(list); len(edits) > 0 {
			t.Errorf("%s: %+v", name, edits)
		}
	}
	open := read(history[:strings.Index(history, `,{"role":"assistant","content":"done"}`)])
	if list := open.Quotes([]string{"t1"}, aside, nil); list != nil {
		t.Errorf("a round of tools is no turn: %+v", list)
	}
	if list := read(history+now).Quotes([]string{"t1"}, nil, nil); list != nil {
		t.Errorf("what is not set aside is quoted: %+v", list)
	}
}

// Requirements: PAL-19
func TestAPlanQuotesWhatAPersonWantsOfWhatIsAside(t *testing.T) {
	t.Parallel()
	blocks := []Block{
		{Type: resultType, Use: "t1", Person: Show}, {Type: resultType, Use: "t2"}, {Type: resultType, Use: "t3", Person: Show}, {Type: useType, Use: "t1", Person: Show},
	}
	plan := Default().Plan(Situation{Blocks: blocks, Aside: []Replacement{{Result: "t1"}, {Result: "t2"}}})
	if fmt.Sprint(plan.Quote) != "[t1]" {
		t.Errorf("%v are quoted", plan.Quote)
	}
}
