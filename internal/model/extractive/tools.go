package extractive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// maxCalls bounds the tool calls of one turn: list, then read or search.
const maxCalls = 3

var (
	wantsList = pattern("wantsList")
	filePath  = regexp.MustCompile(`(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,6}\b`)
)

// pick chooses the read-only tool that obviously matches the question.
func (t turn) pick() (model.Event, bool) {
	q := strings.ToLower(t.question)
	path := filePath.FindString(t.question)
	switch {
	case wantsList.MatchString(q):
		return t.use("list", nil)
	case path != "" && strings.Contains(path, "."):
		if e, ok := t.use("read", map[string]any{"path": path, "file": path, "name": path}); ok {
			return e, ok
		}
	}
	intent, _ := judge(q)
	if intent == intentCourtesy || intent == intentNone {
		return model.Event{}, false
	}
	if e, ok := t.use("search", map[string]any{"question": t.question, "query": t.question, "message": t.question, "text": t.question, "q": t.question}); ok {
		return e, ok
	}
	if t.req.Task == TaskAgent {
		return t.use("list", nil)
	}
	return model.Event{}, false
}

// use calls the offered read-only tool whose name holds verb, once a turn,
// with the arguments its schema has a place for.
func (t turn) use(verb string, args map[string]any) (model.Event, bool) {
	for _, tool := range t.req.Tools {
		if !tool.ReadOnly || !strings.Contains(strings.ToLower(tool.Name), verb) || t.used(tool.Name) {
			continue
		}
		input, err := json.Marshal(filled(tool.InputSchema, args))
		if err != nil {
			continue
		}
		if args == nil && len(tool.InputSchema) == 0 {
			input = []byte("{}")
		}
		return model.Event{Type: model.ToolCall, ID: fmt.Sprintf("call_%d", len(t.results)+1), Name: tool.Name, Input: input}, true
	}
	return model.Event{}, false
}

func (t turn) used(name string) bool {
	for _, r := range t.results {
		if r.call.Name == name {
			return true
		}
	}
	return false
}

// afterTools goes on with another tool, or answers from the results.
func (t turn) afterTools(w *writer) (model.StopReason, error) {
	if len(t.results) < maxCalls && t.req.Task == TaskAgent && t.listedOnly() {
		if e, ok := t.readListed(); ok {
			return model.ToolCalls, w.call(e)
		}
	}
	if m := strings.ToLower(t.question); editVerb.MatchString(m) && editWhat.MatchString(m) {
		if err := w.say(t.say.cannotEdit + "\n\n"); err != nil {
			return "", err
		}
	}
	for i, r := range t.results {
		if i > 0 {
			if err := w.say("\n\n"); err != nil {
				return "", err
			}
		}
		if err := t.tell(w, r); err != nil {
			return "", err
		}
	}
	return model.EndTurn, nil
}

func (t turn) listedOnly() bool {
	return len(t.results) == 1 && strings.Contains(t.results[0].call.Name, "list") && !wantsList.MatchString(strings.ToLower(t.question))
}

// readListed reads the listed file the question names, if it names one.
func (t turn) readListed() (model.Event, bool) {
	q := strings.ToLower(t.question)
	for _, f := range parseResult(t.results[0].block.Text).Files {
		if p := f.path(); p != "" && strings.Contains(q, strings.ToLower(p[strings.LastIndexByte(p, '/')+1:])) {
			return t.use("read", map[string]any{"path": p, "file": p, "name": p})
		}
	}
	return model.Event{}, false
}

// outcome is what built-in read-only tools return, as far as it is known.
type outcome struct {
	Passages []passage `json:"passages"`
	Files    []listed  `json:"files"`
	Content  string    `json:"content"`
	Text     string    `json:"text"`
	Path     string    `json:"path"`
	Title    string    `json:"title"`
}

type listed struct {
	Path string `json:"path"`
	Name string `json:"name"`
	Size int64  `json:"size"`
}

func (l listed) path() string {
	if l.Path != "" {
		return l.Path
	}
	return l.Name
}

// parseResult reads a result: JSON of a known form, or plain text.
func parseResult(raw string) outcome {
	var o outcome
	if json.Unmarshal([]byte(raw), &o) != nil {
		return outcome{Text: raw}
	}
	return o
}

// tell writes what one tool returned.
func (t turn) tell(w *writer, r result) error {
	name := r.call.Name
	if name == "" {
		name = r.block.Name
	}
	if r.block.IsError {
		return w.say(fmt.Sprintf(t.say.failed, name, sentence(r.block.Text)))
	}
	for _, tool := range t.req.Tools {
		if tool.Name == name {
			if done, err := t.tellRecords(w, tool, r.block.Text); done {
				return err
			}
		}
	}
	o := parseResult(r.block.Text)
	switch {
	case len(o.Passages) > 0:
		return t.answer(w, o.Passages)
	case len(o.Files) > 0:
		return t.list(w, o.Files)
	case o.Content+o.Text != "":
		return t.show(w, o)
	case strings.Contains(name, "list"):
		return w.say(t.say.noFiles + " " + t.say.toAdd)
	case strings.Contains(name, "search"):
		return w.say(t.say.nothing)
	}
	if raw := strings.TrimSpace(r.block.Text); raw != "" && raw != "{}" && raw != "null" {
		return w.say("```json\n" + clip(raw) + "\n```")
	}
	return w.say(fmt.Sprintf(t.say.empty, name))
}

// sentence is an error as a person reads it, without the code before it.
func sentence(text string) string {
	text = knowledge.Fold(text)
	code, rest, found := strings.Cut(text, ": ")
	if found && slices.Contains(fault.Codes(), fault.Code(code)) {
		return rest
	}
	return text
}

func (t turn) list(w *writer, files []listed) error {
	var b strings.Builder
	b.WriteString(t.say.files + "\n")
	for _, f := range files {
		b.WriteString("\n- `" + f.path() + "`")
	}
	return w.say(b.String())
}

// show quotes the beginning of a text as it is.
func (t turn) show(w *writer, o outcome) error {
	text := o.Content
	if text == "" {
		text = o.Text
	}
	head := ""
	if name := o.Path + o.Title; name != "" {
		head = "**" + name + "** " + t.say.begins + "\n\n"
	}
	return w.say(head + "```\n" + clip(text) + "\n```")
}

// maxShown bounds what is shown of a file or a raw result, in bytes.
const maxShown = 2000

func clip(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "```", "ʼʼʼ")
	if len(text) <= maxShown {
		return text
	}
	cut := strings.LastIndexAny(text[:maxShown], " \n")
	if cut < maxShown/2 {
		cut = maxShown
	}
	return strings.ToValidUTF8(text[:cut], "") + " …"
}
