package api

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/learning"
)

// compares begins a comparison, and is its run.
func (p *person) compares(adapter, question string) string {
	p.Helper()
	got := p.post("/v1/adapters/"+adapter+"/compare", map[string]any{"question": question})
	var e Envelope[ComparisonStarted]
	if err := json.Unmarshal(got.body, &e); err != nil || got.status != http.StatusAccepted || e.Data.RunID == "" {
		p.Fatalf("%d %s (%v)", got.status, got.body, err)
	}
	return e.Data.RunID
}

// learns lets a rule apply a change to an adapter of the person's, on half of
// their conversations.
func (p *person) learns(adapter, ops, found string) changes.Patch {
	p.Helper()
	desk := p.clerk.desk
	made, err := desk.ProposeLearned(p.Context(), p.viewer(), changes.Proposal{ArtifactID: adapter, Patch: json.RawMessage(ops), Justification: "What you said.", Found: json.RawMessage(found)})
	p.must(err)
	p.clerk.works(made.ID)
	for range 2 {
		made, err = desk.ByRule(p.Context(), made.ID, changes.Ruling{Rule: "gate of policy.learning v1"}, changes.RolloutPlan{
			Share: 50, Hours: 24, RollBack: true, Rules: []artifacts.Rule{{When: "thumbs_down_share.after > thumbs_down_share.before + 0.15 and runs.after >= 10"}},
		})
		p.must(err)
	}
	if made.Status != changes.Applied {
		p.Fatalf("the change is %s", made.Status)
	}
	return made
}

const tried = `{"gate":{"state":"tried","better":5,"worse":1,"alike":2,"held":8,"p":0.97},"why":[{"code":"tried","data":{"held":8},"text":"Of 8 questions."}]}`

func TestAPersonSeesTheirAdaptersWithVersionsGateAndTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	if got := ada.get("/v1/adapters").ok(); len(listed(got, "data")) != 0 {
		t.Errorf("at first: %v", got)
	}
	event := ada.say("One?", "too long")
	cluster := ada.cluster("Proofs", event)
	adapter := ada.adapter("skill", own+`,"type":"skill","cluster_id":"`+cluster+`"`)
	p := ada.learns(adapter, `[{"op":"add","path":"/current_version","value":1},{"op":"add","path":"/fs_dir","value":"users/`+ada.id+`/adapters/x/v0001"},{"op":"add","path":"/base_model","value":"base"}]`, tried)
	row := listed(ada.get("/v1/adapters").ok(), "data")[0]
	if row["situation"] != "Proofs" || row["weights"] != 1.0 || fmt.Sprint(row["use"]) != "map[last_at:<nil> runs:0 score:0]" {
		t.Errorf("listed: %v", row)
	}
	whole := ada.get("/v1/adapters/" + adapter).ok()
	change := whole["patch"].(map[string]any)
	if got := fmt.Sprint(change["gate"]); got != "map[alike:2 better:5 held:8 p:0.97 state:tried worse:1]" {
		t.Errorf("the gate: %v", got)
	}
	// Why, in parts: of the change, in lists too, and of the version it made.
	const why = "map[code:tried data:map[held:8] text:Of 8 questions.]"
	proposed := listed(ada.get("/v1/config/patches?artifact_id="+adapter).ok(), "data")[0]
	for _, of := range []map[string]any{ada.get(fmt.Sprint("/v1/config/patches/", p.ID)).ok(), proposed, listed(whole, "versions")[0]} {
		if got := fmt.Sprint(of["why"]); got != "["+why+"]" {
			t.Errorf("why: %s, of %v", got, of)
		}
	}
	if got := fmt.Sprint(listed(whole, "versions")[1]["why"]); got != "[]" {
		t.Errorf("why of what nobody proposed: %s", got)
	}
	trial := change["trial"].(map[string]any)
	if trial["share"] != 50.0 || fmt.Sprint(trial["runs"]) != "map[after:0 before:0]" || len(trial["rules"].([]any)) != 1 || change["may_roll_back"] != true {
		t.Errorf("the trial: %v", trial)
	}
	versions := func() (said []string) {
		for _, v := range listed(ada.get("/v1/adapters/"+adapter).ok(), "versions") {
			said = append(said, fmt.Sprint(v["version"], " ", v["state"], " ", v["weights"], " ", v["base"], " ", v["patch_id"], " ", v["peft"]))
		}
		return said
	}
	want := []string{fmt.Sprint("2 trial 1 base ", p.ID, " true"), "1 before 0  <nil> false"}
	if got := versions(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("on trial: %q", got)
	}
	marked := func() string {
		var said []any
		for _, v := range listed(ada.get("/v1/adapters/"+adapter).ok(), "versions") {
			said = append(said, v["marked"])
		}
		return fmt.Sprint(said...)
	}
	made, err := w.store.ReserveWeights(t.Context(), ada.viewer(), learning.Weights{AdapterID: adapter, BaseSHA: "ab", Rank: 4},
		func(int) string { return "users/" + ada.id + "/adapters/x/v0001" }, []learning.Source{{EventID: event}})
	ada.must(err)
	made.SHA256 = "cd"
	_, err = w.store.FinishWeights(t.Context(), ada.viewer(), made)
	ada.must(err)
	if got := marked(); got != "false false" {
		t.Errorf("marked are %s", got)
	}
	ada.do("DELETE", fmt.Sprint("/v1/preferences/", event), nil)
	if got := marked(); got != "true false" {
		t.Errorf("what it was trained with is taken back, and marked are %s", got)
	}
	ada.post(fmt.Sprint("/v1/config/patches/", p.ID, "/promote"), nil).ok()
	if change := ada.get("/v1/adapters/" + adapter).ok()["patch"].(map[string]any); change["trial"] != nil {
		t.Errorf("kept, it is on trial: %v", change)
	}
	ada.post(fmt.Sprint("/v1/config/patches/", p.ID, "/rollback"), map[string]any{"reason": "no"}).ok()
	want = []string{"3 current 0  <nil> false", fmt.Sprint("2 rolled_back 1 base ", p.ID, " true"), "1 earlier 0  <nil> false"}
	if got := versions(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("taken back: %q", got)
	}
	ada.adapter("written", `"scope":"shared"`)
	if n := len(listed(ada.get("/v1/adapters").ok(), "data")); n != 1 {
		t.Errorf("%d adapters are listed", n)
	}
	ada.get("/v1/adapters/"+id.New()).fails(404, "not_found")
}

// shelf has one folder of weights.
type shelf struct {
	dir, checksum string
	files         fs.FS
}

func (s shelf) Peft(dir, checksum string) (fs.FS, error) {
	if dir != s.dir || checksum != s.checksum {
		return nil, errors.Join(fault.New(fault.NotFound, "There are no weights in %s with %s.", dir, checksum))
	}
	return s.files, nil
}

func TestAPersonTakesTheWeightsOfTheirAdapterAlong(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	kept := &shelf{checksum: sum, files: fstest.MapFS{"adapter_config.json": {Data: []byte("{}")}, "adapter_model.safetensors": {Data: []byte("weights")}}}
	w := newWorld(t, func(o *Options) { o.Weights = kept })
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	kept.dir = "users/" + ada.id + "/adapters/x/v0003"
	adapter := ada.adapter("persona", own+`,"current_version":3,"checksum":"sha256:`+sum+`","fs_dir":"/`+kept.dir+`"`)
	got := ada.get("/v1/adapters/" + adapter + "/versions/3/peft")
	z, err := zip.NewReader(bytes.NewReader(got.body), int64(len(got.body)))
	if err != nil || got.status != http.StatusOK || len(z.File) != 2 || z.File[1].Name != "adapter_model.safetensors" {
		t.Fatalf("%d: %v", got.status, err)
	}
	whole := ada.adapter("whole", own+`,"current_version":3,"checksum":"`+sum+`","fs_dir":"users/`+ada.id+`/adapters/x"`)
	if got := ada.get("/v1/adapters/" + whole + "/versions/3/peft"); got.status != http.StatusOK {
		t.Errorf("of an adapter's folder: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/versions/2/peft", "/versions/4/peft"} {
		ada.get("/v1/adapters/"+adapter+path).fails(404, "not_found")
	}
	ada.get("/v1/adapters/"+adapter+"/versions/0/peft").fails(400, "validation_error")
	bob.get("/v1/adapters/"+adapter+"/versions/3/peft").fails(404, "not_found")
	theirs := bob.adapter("stolen", own+`,"current_version":3,"checksum":"`+sum+`","fs_dir":"`+kept.dir+`"`)
	bob.get("/v1/adapters/"+theirs+"/versions/3/peft").fails(404, "not_found")
}

func TestAPersonComparesAnswersBeforeTheyKnowWhichIsWhich(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	adapter, other := ada.adapter("persona", own), ada.adapter("other", own)
	path := "/v1/adapters/" + adapter + "/compare"
	r := ada.compares(adapter, " Why? ")
	c := learning.Comparison{RunID: r, AdapterID: adapter}
	got := ada.get(path + "/" + r).ok()
	with, without := got[c.With()], got[learning.Other(c.With())]
	if got["status"] != "waiting" || got["question"] != "Why?" || with != "With." || without != "Without." || got["choice"] != "" || got["told"] != nil {
		t.Fatalf("before the choice: %v", got)
	}
	bob.get(path+"/"+r).fails(404, "not_found")
	ada.get("/v1/adapters/"+other+"/compare/"+r).fails(404, "not_found")
	ada.post(path+"/"+r, map[string]any{"choice": "both"}).fails(400, "validation_error")
	got = ada.post(path+"/"+r, map[string]any{"choice": "second"}).ok()
	if got["choice"] != "second" || got["told"].(map[string]any)["with"] != c.With() {
		t.Errorf("after it: %v", got)
	}
	ada.post(path+"/"+r, map[string]any{"choice": "first"}).fails(409, "conflict")
	if got := ada.get("/v1/conversations/" + c.ConversationID() + "/messages").ok(); len(items(got)) != 2 {
		t.Errorf("its conversation: %v", got)
	}
	ada.post(path, map[string]any{"question": " "}).fails(400, "validation_error")
	resting := ada.adapter("resting", own+`,"status":"disabled"`)
	ada.post("/v1/adapters/"+resting+"/compare", map[string]any{"question": "Why?"}).fails(409, "conflict")
	talk := ada.thread(&chat.Message{Role: "assistant", Content: "So it is."})
	if said := ada.post("/v1/chat", map[string]any{"message": "hi", "conversation_id": talk}).ok(); said["run_id"] != nil {
		ada.get(path+"/"+said["run_id"].(string)).fails(404, "not_found")
	}
}

func TestNothingIsComparedWhereNothingIsLearnt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Learner = nil })
	ada := w.signUp("ada@example.org")
	ada.post("/v1/adapters/"+ada.adapter("persona", own)+"/compare", map[string]any{"question": "Why?"}).fails(403, "forbidden")
}
