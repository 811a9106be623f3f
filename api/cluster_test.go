package api

import (
	"fmt"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/learning"
)

func labels(list []map[string]any) (out []string) {
	for _, c := range list {
		out = append(out, fmt.Sprint(c["label"]))
	}
	return out
}

func TestAPersonShapesTheirSituations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	one, two, three := ada.say("One?", "too long"), ada.say("Two?", ""), ada.say("Three?", "")
	emails, letters := ada.cluster("Emails", one, two), ada.cluster("Letters", three)
	if got := items(ada.get("/v1/clusters").ok()); fmt.Sprint(labels(got)) != "[Emails Letters]" || got[0]["size"] != 2.0 || got[0]["strength"] != 0.75 || got[0]["label_by"] != "rule" {
		t.Errorf("clusters: %v", got)
	}
	events := items(ada.get("/v1/clusters/" + emails + "/events").ok())
	if len(events) != 2 || events[0]["question"] != "Two?" || events[1]["notes"] != "too long" || events[1]["excluded"] != false || events[1]["event_id"] != float64(one) {
		t.Errorf("events: %v", events)
	}
	ada.do("PATCH", fmt.Sprint("/v1/learning/events/", one), map[string]any{"excluded": true}).ok()
	if events = items(ada.get("/v1/clusters/" + emails + "/events").ok()); events[1]["excluded"] != true {
		t.Errorf("one that was excluded: %v", events)
	}
	named := ada.do("PATCH", "/v1/clusters/"+emails, map[string]any{"label": " My emails ", "description": "You write emails."}).ok()
	if named["label"] != "My emails" || named["label_by"] != "person" || named["description"] != "You write emails." {
		t.Errorf("named: %v", named)
	}
	ada.do("PATCH", "/v1/clusters/"+emails, map[string]any{"label": ""}).fails(400, "validation_error")

	ada.post("/v1/clusters/"+emails+"/merge", map[string]any{"into": emails}).fails(400, "validation_error")
	ada.post("/v1/clusters/"+letters+"/merge", map[string]any{"into": emails}).ok()
	if got := items(ada.get("/v1/clusters").ok()); fmt.Sprint(labels(got)) != "[My emails]" {
		t.Errorf("merged: %v", got)
	}
	if events = items(ada.get("/v1/clusters/" + emails + "/events").ok()); len(events) != 3 {
		t.Errorf("events of both: %v", events)
	}
	said := func() string {
		t.Helper()
		list, err := w.store.ListClusters(t.Context(), ada.viewer(), false)
		w.must(err)
		for _, c := range list {
			if c.ID == emails {
				return fmt.Sprint(c.Together, " apart ", c.Apart)
			}
		}
		return ""
	}
	if got, want := said(), fmt.Sprintf("[[%d %d] [%d %d]] apart []", one, two, two, three); got != want {
		t.Errorf("kept of the merge: %s, want %s", got, want)
	}
	for _, wrong := range [][]int64{{one, two, three}, {one, one + 1<<40}} {
		ada.post("/v1/clusters/"+emails+"/split", map[string]any{"event_ids": wrong}).fails(400, "validation_error")
	}
	ada.post("/v1/clusters/"+emails+"/split", map[string]any{"event_ids": []int64{three}}).ok()
	if got, want := said(), fmt.Sprintf("[[%d %d]] apart [[%d %d] [%[3]d %[2]d]]", one, two, three, one); got != want {
		t.Errorf("kept of the split: %s, want %s", got, want)
	}
	ada.do("DELETE", "/v1/clusters/"+emails, nil).ok()
	ada.do("DELETE", "/v1/clusters/"+emails, nil).fails(404, "not_found")
	if got := items(ada.get("/v1/clusters").ok()); len(got) != 0 {
		t.Errorf("in the end: %v", got)
	}
}

func TestSituationsOfEverybodyAreSeenByAllAndNamedByAdministrators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	c := learning.Cluster{ID: "6f1c7c9e-3d55-4b5f-8f0e-0c3d1f6a7b11", Label: "Emails", Size: 7, Samples: []string{"x"}, Status: learning.ClusterActive}
	w.must(w.store.PutClustering(t.Context(), identity.System(), learning.Clustering{Clusters: []learning.Cluster{c}}))
	path := "/v1/clusters/" + c.ID
	if got := items(ada.get("/v1/clusters?scope=global").ok()); fmt.Sprint(labels(got)) != "[Emails]" {
		t.Errorf("everybody's: %v", got)
	}
	if got := items(ada.get("/v1/clusters").ok()); len(got) != 0 {
		t.Errorf("one's own: %v", got)
	}
	ada.do("PATCH", path, map[string]any{"label": "Letters"}).fails(404, "not_found")
	ada.do("DELETE", path, nil).fails(404, "not_found")
	ada.get(path+"/events").fails(404, "not_found")
	if got := root.do("PATCH", path, map[string]any{"label": "Letters"}).ok(); got["label"] != "Letters" {
		t.Errorf("named: %v", got)
	}
	if got := items(root.get(path + "/events").ok()); len(got) != 0 {
		t.Errorf("events of people: %v", got)
	}
	root.do("DELETE", path, nil).ok()
	if got := items(ada.get("/v1/clusters?scope=global").ok()); len(got) != 0 {
		t.Errorf("in the end: %v", got)
	}
}
