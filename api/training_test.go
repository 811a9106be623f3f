package api

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/train"
)

// accepted is what an answer with 202 holds.
func (r *response) accepted() map[string]any {
	r.t.Helper()
	var e struct{ Data map[string]any }
	if err := json.Unmarshal(r.body, &e); err != nil || r.status != http.StatusAccepted {
		r.t.Fatalf("%s: %d %s (%v)", r.what, r.status, r.body, err)
	}
	return e.Data
}

// coach queues what it is asked, over the store.
type coach struct{ w *world }

func (coach) Possible() bool { return true }

func (c coach) Ask(ctx context.Context, v identity.Viewer, adapterID string) (learning.Job, error) {
	j, _, err := c.w.store.QueueJob(ctx, v, learning.Job{AdapterID: adapterID})
	return j, err
}

func (c coach) Cancel(ctx context.Context, v identity.Viewer, id string) (learning.Job, error) {
	return c.w.store.CancelJob(ctx, v, id, learning.Cancelled())
}

func (c coach) Curve(ctx context.Context, v identity.Viewer, id string) ([]train.Metric, error) {
	held := 1.25
	_, err := c.w.store.TrainingJob(ctx, v, id)
	return []train.Metric{{Step: 1, Of: 2, Loss: 1.5}, {Step: 2, Of: 2, Loss: 1, HeldOut: &held}}, err
}

func TestAPersonAsksForATrainingWatchesItAndEndsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Trainer = coach{w}
	eve := w.signUp("eve@example.org") // the first one runs the place
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	a, err := w.store.CreateArtifact(t.Context(), ada.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: ada.id, Type: artifacts.KindAdapter, Name: "learnt.persona", Visibility: artifacts.Private, Version: 1, Schema: []byte(`{"kind":"adapter.lora"}`), CreatedBy: "llm",
	}, "")
	w.must(err)
	asked := ada.post("/v1/adapters/"+a.ID+"/train", nil).accepted()
	place, _ := asked["place"].(map[string]any)
	if asked["status"] != "queued" || asked["stage"] != "queue" || place["ahead"] != 0.0 || asked["report"] != nil {
		t.Errorf("asked for: %v", asked)
	}
	if again := ada.post("/v1/adapters/"+a.ID+"/train", nil).accepted(); again["id"] != asked["id"] {
		t.Errorf("asked for again: %v", again)
	}
	ada.post("/v1/adapters/"+id.New()+"/train", nil).fails(404, "not_found")
	path := "/v1/training/" + asked["id"].(string)
	steps := ada.get(path + "/metrics").ok()["steps"].([]any)
	if len(steps) != 2 || steps[0].(map[string]any)["held_out"] != nil || steps[1].(map[string]any)["held_out"] != 1.25 {
		t.Errorf("the curve is %v", steps)
	}
	// Who runs the place sees how trainings of others go, and nobody else does.
	bob.get("/v1/training?everybody=true").fails(403, "forbidden")
	bob.get(path+"/metrics").fails(404, "not_found")
	if list := items(bob.get("/v1/training").ok()); len(list) != 0 {
		t.Errorf("bob sees %v", list)
	}
	if list := items(eve.get("/v1/training").ok()); len(list) != 0 {
		t.Errorf("of her own eve sees %v", list)
	}
	all := items(eve.get("/v1/training?everybody=true").ok())
	if len(all) != 1 || all[0]["id"] != asked["id"] || all[0]["user"].(map[string]any)["id"] != ada.id || all[0]["place"].(map[string]any)["ahead"] != 0.0 {
		t.Errorf("of everybody eve sees %v", all)
	}
	if steps := eve.get(path + "/metrics").ok()["steps"].([]any); len(steps) != 2 {
		t.Errorf("eve sees the curve %v", steps)
	}
	eve.post(path+"/cancel", nil).fails(404, "not_found")
	j, ok, err := w.store.ClaimJob(t.Context(), identity.System(), "p", id.New())
	if err != nil || !ok {
		t.Fatal(err)
	}
	w.must(func() error {
		_, err := w.store.StepJob(t.Context(), ada.viewer(), learning.JobStep{ID: j.ID, Fence: j.Fence, To: learning.StagePublish, Report: []byte(`{"outcome":"rule","p":0.95,"events":6,"loss":{"now":2,"new":1},"kept":{"prompts":4,"of":8,"base":0,"now":1,"new":7,"kinds":["begins","length"]}}`)})
		return err
	}())
	one := ada.get(path).ok()
	report, _ := one["report"].(map[string]any)
	if one["status"] != "running" || one["place"] != nil || report["outcome"] != "rule" || report["loss"].(map[string]any)["new"] != 1.0 || report["kept"].(map[string]any)["new"] != 7.0 {
		t.Errorf("running: %v", one)
	}
	// Its run has not begun: that it cannot be told holds nothing up.
	ended := ada.post(path+"/cancel", nil).ok()
	if ended["status"] != "failed" || ended["stage"] != "cancelled" || ended["reason"] == "" {
		t.Errorf("cancelled: %v", ended)
	}
	if list := items(ada.get("/v1/training?adapter_id=" + a.ID).ok()); len(list) != 1 || list[0]["stage"] != "cancelled" {
		t.Errorf("listed: %v", list)
	}
	if mode := ada.get("/v1/learning").ok()["mode"]; mode != "full" {
		t.Errorf("the mode is %v", mode)
	}
}
