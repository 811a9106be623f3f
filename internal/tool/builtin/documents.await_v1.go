package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

const (
	// longestAwait bounds how long one call may wait for documents.
	longestAwait = time.Hour
	// usualAwait is how long it waits where nothing is said.
	usualAwait = 15 * time.Minute
)

// Between two looks at documents: at first a small file is ready in a moment,
// later a large one is minutes away.
const (
	firstLook  = 500 * time.Millisecond
	rarestLook = 10 * time.Second
)

// awaitDocuments waits until documents are read, without being at work: between
// two looks the run rests. One that fails, or is deleted, is waited for no
// longer.
type awaitDocuments struct{ progress Progress }

func (awaitDocuments) Name() string { return "documents.await_v1" }

// awaiting is what a call that was put off wants back.
type awaiting struct {
	until time.Time
	pause time.Duration // before the last look
	said  string        // to the person
}

func (t awaitDocuments) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	ids := unreadIDs(c.Inputs["documents"])
	list, err := t.progress.Progress(ctx, c.Viewer, ids)
	if err != nil {
		return nil, err
	}
	a, now := resumed(c), time.Now()
	if left := a.until.Sub(now); left > 0 && coming(list) {
		return a.later(c, list, left), nil
	}
	if a.said != "" {
		c.Emit(stream.StatusData{Node: c.Node, Message: a.said, Done: true})
	}
	return unreadOutput(list, german(c)), nil
}

// resumed is where a call stands: at its beginning, or after a pause.
func resumed(c *tool.Call) awaiting {
	a := awaiting{until: time.Now().Add(awaited(number(c, "within_ms", int(usualAwait.Milliseconds()))))}
	resume, _ := c.Resume.(map[string]any)
	state, _ := resume["state"].(map[string]any)
	if text, ok := state["until"].(string); ok {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Before(a.until) {
			a.until = at
		}
	}
	ms, _ := state["pause_ms"].(float64)
	a.pause = time.Duration(ms) * time.Millisecond
	a.said, _ = state["said"].(string)
	return a
}

// awaited is how long a call waits at most.
func awaited(ms int) time.Duration {
	return min(max(time.Duration(ms)*time.Millisecond, 0), longestAwait)
}

// later puts the call off, and tells the person how far things are where that
// has changed.
func (a awaiting) later(c *tool.Call, list []knowledge.Unread, left time.Duration) map[string]any {
	pause := min(max(a.pause*3/2, firstLook), rarestLook)
	if said := waitingFor(list, german(c)); said != a.said {
		a.said = said
		c.Emit(stream.StatusData{Node: c.Node, Message: said})
	}
	return map[string]any{"later": map[string]any{
		"after_ms": float64(max(min(pause, left), time.Millisecond).Milliseconds()),
		"state":    map[string]any{"until": a.until.Format(time.RFC3339Nano), "pause_ms": float64(pause.Milliseconds()), "said": a.said},
	}}
}

// unreadIDs reads ids, or the documents a search found unread.
func unreadIDs(v any) []string {
	var ids []string
	list, _ := v.([]any)
	for _, e := range list {
		switch e := e.(type) {
		case string:
			ids = append(ids, e)
		case map[string]any:
			if one, ok := e["id"].(string); ok {
				ids = append(ids, one)
			}
		}
	}
	return ids
}

func coming(list []knowledge.Unread) bool {
	for _, u := range list {
		if u.Coming() {
			return true
		}
	}
	return false
}

// unreadOutput is what the tool returns: what is not ready, and the question
// whether to wait for it, in words.
func unreadOutput(list []knowledge.Unread, german bool) map[string]any {
	question := "Still being read: %s. Wait for that, or answer from what is there?"
	choices := []any{
		map[string]any{"id": "wait", "label": "Wait, and answer then"},
		map[string]any{"id": "answer", "label": "Answer from what is there"},
	}
	allRead, notReady := "all are read", " not ready"
	if german {
		allRead, notReady = "alle sind gelesen", " noch nicht gelesen"
		question = "Noch nicht fertig gelesen: %s. Darauf warten, oder aus dem antworten, was da ist?"
		choices = []any{
			map[string]any{"id": "wait", "label": "Warten und dann antworten"},
			map[string]any{"id": "answer", "label": "Aus dem antworten, was da ist"},
		}
	}
	out := map[string]any{"unread": unreadList(list), "coming": coming(list), "choices": choices, "question": "", "summary": allRead}
	if len(list) > 0 {
		out["summary"] = count(len(list), "document", german) + notReady
	}
	if coming(list) {
		out["question"] = fmt.Sprintf(question, strings.Join(comingTitles(list, german), ", "))
	}
	return out
}

func unreadList(list []knowledge.Unread) []any {
	out := make([]any, 0, len(list))
	for _, u := range list {
		one := map[string]any{"id": u.ID, "title": u.Title, "status": string(u.Status), "percent": float64(u.Percent)}
		if u.Error != "" {
			one["error"] = u.Error
		}
		out = append(out, one)
	}
	return out
}

// mostNamed is how many documents are told by name; the rest are counted.
const mostNamed = 5

// comingTitles are documents on their way in, with how far they are.
func comingTitles(list []knowledge.Unread, german bool) []string {
	queued, more, open, shut := "not begun", "%d more", "“", "”"
	if german {
		queued, more, open, shut = "noch nicht begonnen", "%d weitere", "„", "“"
	}
	var out []string
	total := 0
	for _, u := range list {
		if !u.Coming() {
			continue
		}
		if total++; total > mostNamed {
			continue
		}
		far := fmt.Sprintf("%d %%", u.Percent)
		if u.Status == knowledge.Waiting {
			far = queued
		}
		out = append(out, open+u.Title+shut+" ("+far+")")
	}
	if total > mostNamed {
		out = append(out, fmt.Sprintf(more, total-mostNamed))
	}
	return out
}

func waitingFor(list []knowledge.Unread, german bool) string {
	if german {
		return "Wartet, bis gelesen ist: " + strings.Join(comingTitles(list, german), ", ")
	}
	return "Waiting until this is read: " + strings.Join(comingTitles(list, german), ", ")
}

// unreadNote is what an answer says of documents it could not be made from; ""
// when there are none.
func unreadNote(given []any, german bool) (string, error) {
	list := make([]knowledge.Unread, 0, len(given))
	for _, e := range given {
		one, ok := e.(map[string]any)
		if !ok {
			return "", fault.New(fault.Invalid, "unread is no list of documents as rag.search_v1 gives them.")
		}
		u := knowledge.Unread{}
		u.Title, _ = one["title"].(string)
		status, _ := one["status"].(string)
		u.Status = knowledge.DocumentStatus(status)
		percent, _ := one["percent"].(float64)
		u.Percent = int(percent)
		u.Error, _ = one["error"].(string)
		list = append(list, u)
	}
	still, broken, open, shut := "Still being read, and not in this answer: ", "Could not be read: ", "“", "”"
	if german {
		still, broken, open, shut = "Noch nicht fertig gelesen und nicht in dieser Antwort: ", "Ließ sich nicht lesen: ", "„", "“"
	}
	var lines []string
	if names := comingTitles(list, german); len(names) > 0 {
		lines = append(lines, still+strings.Join(names, ", ")+".")
	}
	for i, u := range list {
		if u.Status == knowledge.Failed && i < mostNamed {
			lines = append(lines, strings.TrimSpace(broken+open+u.Title+shut+". "+u.Error))
		}
	}
	return strings.Join(lines, "\n\n"), nil
}
