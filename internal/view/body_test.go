package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// What may be understood in two ways passes as it is.
func TestADoubtfulBodyIsNotRead(t *testing.T) {
	t.Parallel()
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"c"}]}`
	good := `{"model":"m","messages":[` + message + `]}`
	if _, err := ReadBody([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"two lists":          `{"messages":[` + message + `],"messages":[]}`,
		"escaped twice":      `{"messages":[` + message + `],"mess\u0061ges":[]}`,
		"two contents":       `{"messages":[{"role":"user","content":"a","content":"b"}]}`,
		"two ids":            strings.Replace(good, `"tool_use_id":"t"`, `"tool_use_id":"t","tool_use_id":"u"`, 1),
		"cut":                good[:len(good)-1],
		"more behind it":     good + "{}",
		"no object":          `[]`,
		"no messages":        `{"model":"m"}`,
		"empty":              ``,
		"compressed":         "\x1f\x8b\x08\x00abc",
		"content of another": `{"messages":[{"role":"user","content":7}]}`,
		"no content":         `{"messages":[{"role":"user"}]}`,
		"nested":             `{"messages":[` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `]}`,
		"nested, not ended":  strings.Repeat("[", 5_000_000),
		"huge":               `{"messages":[` + message + `],"x":"` + strings.Repeat("x", MostRead) + `"}`,
	} {
		if _, err := ReadBody([]byte(body)); !errors.Is(err, ErrUnread) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadBody(f *testing.F) {
	for seed := range uint64(20) {
		w := someHistory(seed)
		f.Add(w.body(len(w.parts)))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":""}]}],"thinking":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ReadBody(raw)
		if err != nil {
			return
		}
		var all []Replacement
		for i, m := range b.Messages {
			if other := gjson.GetBytes(raw, fmt.Sprint("messages.", i)).Raw; other != string(b.Of(m.Span)) {
				t.Fatalf("message %d is %s, to another reader %s", i, b.Of(m.Span), other)
			}
			for j, p := range m.Parts {
				if other := gjson.GetBytes(b.Of(m.Content), fmt.Sprint(j)).Raw; !m.Text && other != string(b.Of(p.Span)) {
					t.Fatalf("part %d is %s, to another reader %s", j, b.Of(p.Span), other)
				}
				if p.From < m.From || p.To > m.To || p.From > p.To {
					t.Fatalf("the part %v is outside of the message %v", p.Span, m.Span)
				}
				if p.Type == "tool_result" {
					all = append(all, Replacement{Result: p.ID, Sum: SumOf(b.Of(p.Span)), Block: "1-a", Label: "l", Bytes: 1})
				}
			}
		}
		a := b.SetAside(all, false, nil, nil)
		drop, err := b.DropBlock()
		if err != nil {
			return
		}
		for _, edits := range [][]Edit{a.Edits, drop} {
			out, err := Edited(raw, edits)
			if err != nil || !json.Valid(out) {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := ReadBody(out); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	})
}
