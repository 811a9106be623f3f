package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"liminal/e2e/teststack"
	"liminal/worker"
)

// notingModel is a model that speaks as Ollama does, and proposes two notes of what it is
// given: one of the first block, and one of the last two.
func notingModel(t *testing.T) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) != 2 {
			http.Error(w, "this is no question", http.StatusBadRequest)
			return
		}
		var window struct{ Blocks []struct{ ID int } }
		doc := strings.TrimSuffix(strings.TrimPrefix(body.Messages[1].Content, "<data>\n"), "\n</data>")
		if err := json.Unmarshal([]byte(doc), &window); err != nil || len(window.Blocks) < 2 {
			http.Error(w, "this is no window", http.StatusBadRequest)
			return
		}
		n := len(window.Blocks)
		answer := fmt.Sprintf(`{"notes":[{"says":"The command is run before it is said so.","blocks":[%d]},{"says":"Nobody wants <b>bold</b> here.","blocks":[%d,%d]}]}`, window.Blocks[0].ID, window.Blocks[n-2].ID, window.Blocks[n-1].ID)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", answer)
	}))
	t.Cleanup(server.Close)
	return []string{"MODEL_BACKEND=ollama", "LIMINAL_MODEL=qwen3:4b", "OPENAI_BASE_URL=" + server.URL + "/v1"}
}

// sweepWhenAsked does the sweep whose name is in the file whenever that appears, and takes
// the file away once it has begun: nobody waits an hour for it.
func (p *running) sweepWhenAsked(ctx context.Context, file string) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		name, err := os.ReadFile(file)
		if err != nil || len(name) == 0 {
			continue
		}
		if p.sweep(ctx, string(name)) != nil || os.Remove(file) != nil {
			return // the spec waits for the file to go, and says so
		}
	}
}

func (p *running) sweep(ctx context.Context, name string) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: host(p.said.Temporal), Logger: teststack.Quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.ScheduleClient().GetHandle(ctx, worker.SweepID(worker.DefaultQueue, name)).Trigger(ctx, client.ScheduleTriggerOptions{})
}
