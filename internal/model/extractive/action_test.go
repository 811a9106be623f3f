package extractive_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
)

// lines reads a file of JSON lines.
func lines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer func() { _ = f.Close() }()
	var out []T
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.TrimSpace(s.Text()) == "" {
			continue
		}
		var one T
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v: %s", path, err, s.Text())
		}
		out = append(out, one)
	}
	return out
}

// said are messages of a person and the assistant by turns.
func said(list []string) []model.Message {
	var out []model.Message
	for i, text := range list {
		role := model.User
		if i%2 == 1 {
			role = model.Assistant
		}
		out = append(out, model.Message{Role: role, Content: []model.Block{{Type: model.Text, Text: text}}})
	}
	return out
}

// schemaOf is the schema of a node of the document assistant.
func schemaOf(t testing.TB, node string) json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile("../../../artifacts/packs/documents/workflow.chat/assistant.json")
	must(t, err)
	var graph struct {
		Nodes []struct {
			ID     string
			Inputs struct{ Schema json.RawMessage }
		}
	}
	must(t, json.Unmarshal(raw, &graph))
	for _, n := range graph.Nodes {
		if n.ID == node && len(n.Inputs.Schema) > 0 {
			return n.Inputs.Schema
		}
	}
	t.Fatalf("the assistant has no node %s with a schema", node)
	return nil
}

// structured asks under a schema and gives the object.
func structured[T any](t *testing.T, req model.Request) T {
	t.Helper()
	var out T
	raw := modeltest.Text(modeltest.Play(t, extractive.Model{}, req))
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

type wantedAction struct {
	Q          string
	History    []string
	Action     string
	Confidence string   // empty: any
	Multi      []string // empty: one action
	Likely     []string // empty: any
	Web, Topic bool
}

type gotAction struct {
	Action        string
	Confidence    string
	Multi         bool `json:"multi_action_detected"`
	Actions       []string
	Likely        []string
	Web           bool `json:"enable_web_search"`
	SpecificTopic bool `json:"specific_topic"`
}

func (g gotAction) misses(w wantedAction) string {
	switch {
	case g.Action != w.Action:
		return "action"
	case w.Confidence != "" && g.Confidence != w.Confidence:
		return "confidence"
	case g.Multi != (len(w.Multi) > 0) || g.Multi && !slices.Equal(g.Actions, w.Multi):
		return "actions"
	case len(w.Likely) > 0 && !slices.Equal(g.Likely, w.Likely):
		return "likely"
	case g.Web != w.Web:
		return "web"
	case g.SpecificTopic != w.Topic:
		return "topic"
	case len(g.Likely) != 2 || g.Likely[0] == g.Likely[1]:
		return "likely"
	}
	return ""
}

// least is the share of a file of messages that must be decided right; a file
// the rules were not written for has a lower one.
func least(path string) float64 {
	if strings.Contains(path, "unseen") {
		return 0.6
	}
	return 0.97
}

// Requirements: LG-06, LG-08, LG-10
func TestActionsOfRealMessages(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, "intent")
	files, err := filepath.Glob("testdata/intent/*.jsonl")
	must(t, err)
	for _, path := range files {
		right, all := 0, lines[wantedAction](t, path)
		for _, w := range all {
			req := user(w.Q)
			req.Task, req.Schema, req.Messages = extractive.TaskIntent, schema, append(said(w.History), req.Messages...)
			got := structured[gotAction](t, req)
			if miss := got.misses(w); miss != "" {
				t.Logf("%s: %q: %s: %+v", filepath.Base(path), w.Q, miss, got)
				continue
			}
			right++
		}
		t.Logf("%s: %d of %d", filepath.Base(path), right, len(all))
		if float64(right) < least(path)*float64(len(all)) {
			t.Errorf("%s: only %d of %d are right", path, right, len(all))
		}
	}
}
