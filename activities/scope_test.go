package activities_test

import (
	"encoding/json"
	"testing"

	"liminal/activities"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// Histories of runs that began before there was a Scope hold its fields among
// those of what embeds it, and seals are of the bytes.
//
// Requirements: PLAT-08
func TestAScopeStandsAmongTheFieldsOfAPayload(t *testing.T) {
	t.Parallel()
	scope := tool.Scope{ConversationID: "c", RequestID: "r", UptoSeq: 3, ContextIDs: []string{"k"}, Locale: "de"}
	const flat = `"conversation_id":"c","request_id":"r","upto_seq":3,"context_ids":["k"],"locale":"de"`
	for want, payload := range map[string]any{
		`{"graph":null,"digest":"","tools":null,"pins":null,"input":null,` + flat + `,"job":true}`: activities.Opened{Scope: scope, Job: true},
		`{"run":{"run_id":"x","viewer":` + viewer(t) + `,"kind":""},` + flat + `,"tool":{"artifact_id":"","name":"","version":0},"effect":"","node":"","attempt":0}`: activities.CallInput{
			Run: activities.RunInput{RunID: "x", Viewer: reader}, Scope: scope,
		},
	} {
		got, err := json.Marshal(payload)
		if err != nil || string(got) != want {
			t.Errorf("%T is written\n %s, %v\nwant\n %s", payload, got, err, want)
		}
	}
}

var reader = identity.Viewer{UserID: "u", Role: identity.RoleUser}

func viewer(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
