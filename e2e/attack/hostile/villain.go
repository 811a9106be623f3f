package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Villain is the person whose graph it is.
type Villain struct {
	*Person
	graph     *Graph
	made      map[string]string // artifacts: name → id
	thread    string            // conversation
	contextID string            // context for documents

	mu    sync.Mutex
	began int
	body  []byte // that begins the graph
}

func (v *Villain) started() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.began
}

// write does what comes before the start.
func (v *Villain) write(ctx context.Context) error {
	for _, s := range v.graph.Steps {
		if err := v.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (v *Villain) step(ctx context.Context, s Step) error {
	switch {
	case s.Create != "":
		body := object{"type": s.Create, "name": s.Name, "schema": v.with(s.Schema)}
		data, err := v.call(ctx, "POST", "/v1/artifacts", body)
		v.made[s.Name], _ = data["id"].(string)
		return err
	case s.Patch != "":
		_, err := v.call(ctx, "PATCH", "/v1/artifacts/"+v.made[s.Patch], object{"patch": v.with(s.Ops)})
		return err
	case s.Restore != "":
		_, err := v.call(ctx, "POST", fmt.Sprintf("/v1/artifacts/%s/versions/%d/restore", v.made[s.Restore], s.Version), object{})
		return err
	case s.Upload != "":
		if v.contextID == "" {
			data, err := v.call(ctx, "POST", "/v1/contexts", object{"name": "corpus"})
			if err != nil {
				return err
			}
			v.contextID, _ = data["id"].(string)
		}
		return v.upload(ctx, v.contextID, s.Upload, s.Text)
	}
	return errors.New("a step that does nothing")
}

// with puts the ids of artifacts in the place of @id:NAME.
func (v *Villain) with(value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		return value
	}
	text := string(raw)
	for name, id := range v.made {
		text = strings.ReplaceAll(text, `"@id:`+name+`"`, `"`+id+`"`)
	}
	return json.RawMessage(text)
}

// keep has the graph at work until ctx ends: when nothing of it is open, it is
// started once more.
func (v *Villain) keep(ctx context.Context) {
	for ctx.Err() == nil {
		var wg sync.WaitGroup
		for range v.graph.Start.Times {
			wg.Go(func() { v.start(ctx) })
		}
		wg.Wait()
		for pause(ctx, 200*time.Millisecond) && !v.over(ctx) {
			continue
		}
	}
}

// start begins a run. A refusal, such as that enough of them are at work, is
// taken: the next try comes.
func (v *Villain) start(ctx context.Context) {
	s := v.graph.Start
	var err error
	switch s.How {
	case "chat":
		err = v.chat(ctx)
	case "tool":
		_, err = v.send(ctx, "POST", "/v1/tools/run", "application/json", v.encoded("tool_id"))
	default:
		_, err = v.send(ctx, "POST", "/v1/workflows/run", "application/json", v.encoded("workflow_id"))
	}
	if refused := (*Refusal)(nil); err == nil || ctx.Err() != nil || errors.As(err, &refused) && refused.Status != http.StatusTooManyRequests {
		v.mu.Lock()
		v.began++
		v.mu.Unlock()
	}
}

// encoded is the body that begins the graph. It is made once: to encode a large
// one for each request would take processor time from the program under test.
func (v *Villain) encoded(target string) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.body == nil {
		s := v.graph.Start
		v.body, _ = json.Marshal(object{target: s.Target, "input": v.with(s.Input)}) // it was read as JSON
	}
	return v.body
}

func (v *Villain) chat(ctx context.Context) error {
	body := object{"message": v.graph.Start.Message, "workflow_id": v.graph.Start.Target, "stream": false}
	if v.contextID != "" {
		body["context_ids"] = []string{v.contextID}
	}
	if v.thread != "" {
		body["conversation_id"] = v.thread
	}
	data, err := v.call(ctx, "POST", "/v1/chat", body)
	if id, _ := data["conversation_id"].(string); id != "" && v.graph.Start.Thread {
		v.thread = id
	}
	return err
}

// runs are what the person sees of their runs.
func (v *Villain) runs(ctx context.Context) (all []object, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	data, err := v.call(ctx, "GET", "/v1/runs?limit=100", nil)
	list, _ := data["data"].([]any)
	for _, one := range list {
		if r, ok := one.(object); ok && r["kind"] != "ingest" {
			all = append(all, r)
		}
	}
	return all, err
}

// statuses are how the runs stand, with the codes of those that failed.
func (v *Villain) statuses(ctx context.Context) (out []string) {
	all, err := v.runs(ctx)
	if err != nil {
		return []string{"unknown"}
	}
	for _, r := range all {
		s := fmt.Sprint(r["status"])
		if e, ok := r["error"].(object); ok {
			s += " with " + fmt.Sprint(e["code"])
		}
		out = append(out, s)
	}
	return out
}

func ended(status any) bool { return status == "done" || status == "failed" || status == "cancelled" }

// over reports whether none of the person's runs is open.
func (v *Villain) over(ctx context.Context) bool {
	all, err := v.runs(ctx)
	for _, r := range all {
		if !ended(r["status"]) {
			return false
		}
	}
	return err == nil
}

// cancel stops everything the person sees.
func (v *Villain) cancel(ctx context.Context) {
	all, _ := v.runs(ctx)
	var wg sync.WaitGroup
	for _, r := range all {
		if !ended(r["status"]) {
			wg.Go(func() {
				ctx, done := context.WithTimeout(ctx, 5*time.Second)
				defer done()
				_, _ = v.call(ctx, "POST", "/v1/chat/cancel", object{"run_id": r["id"]}) // what is left is seen
			})
		}
	}
	wg.Wait()
}
