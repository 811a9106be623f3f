package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// written is a history as some client would write it, with spaces, escapes and forms as
// they come.
type written struct {
	r       *rand.Rand
	parts   []string // messages
	results []result
	n       int
	most    int // bytes of a result; 0: 500
	code    bool
}

type result struct {
	id, tool, raw string // the tool_result as JSON
	message       int
}

func (w *written) space() string { return []string{"", "", " ", "\n  ", "\t"}[w.r.IntN(5)] }

func (w *written) text(least int) string {
	words := []string{"Grüße", `"quoted"`, "a\\b", "<tag>&", "line\nline", "\u2028", "toolu_", "{}[],:", "plain", "日本"}
	if w.code {
		words = []string{"func (s *Store) Read(ctx context.Context, name string) error {\n", "\treturn fmt.Errorf(\"%s: %w\", name, err)\n", "plain words of a sentence that says what is done", "0123456789"}
	}
	var b strings.Builder
	for b.Len() < least {
		b.WriteString(words[w.r.IntN(len(words))] + " ")
	}
	return b.String()
}

func (w *written) json(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(w.r.IntN(2) == 0)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

func (w *written) object(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, w.space()+`"`+pairs[i]+`"`+w.space()+":"+w.space()+pairs[i+1])
	}
	w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return "{" + strings.Join(list, ",") + w.space() + "}"
}

func (w *written) list(items []string) string {
	return "[" + w.space() + strings.Join(items, ","+w.space()) + w.space() + "]"
}

func (w *written) message(role string, content string) {
	w.parts = append(w.parts, w.object("role", `"`+role+`"`, "content", content))
}

const control = `{"type":"ephemeral"}`

func (w *written) said(text string) string {
	if w.r.IntN(2) == 0 {
		return w.json(text)
	}
	pairs := []string{"type", `"text"`, "text", w.json(text)}
	if w.r.IntN(4) == 0 {
		pairs = append(pairs, "cache_control", control)
	}
	return w.list([]string{w.object(pairs...)})
}

// round is a round of tools.
func (w *written) round(same string) {
	var uses, results []string
	if w.r.IntN(2) == 0 {
		uses = append(uses, w.object("type", `"thinking"`, "thinking", w.json(w.text(10)), "signature", fmt.Sprintf(`"S%d"`, w.n)))
	}
	if w.r.IntN(3) == 0 {
		uses = append(uses, w.object("type", `"text"`, "text", w.json("I look.")))
	}
	for range 1 + w.r.IntN(3) {
		w.n++
		id, tool := fmt.Sprintf("toolu_%d", w.n), []string{"Read", "Bash", "mcp__palace__recall"}[w.r.IntN(3)]
		uses = append(uses, w.object("type", `"tool_use"`, "id", `"`+id+`"`, "name", `"`+tool+`"`, "input", w.json(map[string]any{"file_path": w.text(5)})))
		content := w.json(w.text(w.r.IntN(cmp.Or(w.most, 500))))
		if same != "" {
			content = w.json(same)
		} else if w.r.IntN(3) == 0 {
			inner := []string{"type", `"text"`, "text", content}
			if w.r.IntN(2) == 0 {
				inner = append(inner, "cache_control", control)
			}
			content = w.list([]string{w.object(inner...), w.object("type", `"image"`, "source", `{"data":"`+strings.Repeat("A", 200)+`"}`)})
		}
		pairs := []string{"type", `"tool_result"`, "tool_use_id", `"` + id + `"`, "content", content}
		if w.r.IntN(5) == 0 {
			pairs = append(pairs, "is_error", "true")
		}
		if w.r.IntN(5) == 0 {
			pairs = append(pairs, "cache_control", control)
		}
		raw := w.object(pairs...)
		results = append(results, raw)
		w.results = append(w.results, result{id, tool, raw, len(w.parts) + 1})
	}
	w.message("assistant", w.list(uses))
	w.message("user", w.list(results))
}

func (w *written) turn() {
	w.message("user", w.said(w.text(20)))
	if w.r.IntN(6) == 0 {
		w.message("system", w.said("A reminder."))
	}
	for range w.r.IntN(3) {
		w.round("")
	}
	w.message("assistant", w.said(w.text(30)))
}

func (w *written) body(messages int) []byte {
	return []byte(w.object(
		"model", `"m"`, "max_tokens", "100", "system", w.said("Be good."), "tools", `[{"name":"Read"},{"name":"mcp__palace__recall"}]`,
		"messages", w.list(w.parts[:messages]), "thinking", `{"type":"adaptive"}`, "metadata", `{"messages":[{"role":"nobody"}]}`,
	))
}

// some are some of the results.
func (w *written) some() (out []Replacement) {
	for _, r := range w.results {
		if w.r.IntN(2) == 0 {
			out = append(out, Replacement{Result: r.id, Sum: SumOf([]byte(r.raw)), Block: r.id + "-7f3a", Label: "Read x.go", Bytes: len(r.raw)})
		}
	}
	if len(out) > 0 && w.r.IntN(3) == 0 { // of another content
		out[0].Sum = SumOf([]byte(`{"type":"tool_result","content":"x"}`))
	}
	return out
}

func someHistory(seed uint64) *written {
	w := &written{r: rand.New(rand.NewPCG(seed, 7))}
	for range 1 + w.r.IntN(3) {
		w.turn()
	}
	if w.r.IntN(3) > 0 {
		w.message("user", w.said("And now?"))
		if w.r.IntN(2) == 0 {
			w.round("")
		}
	}
	return w
}
