package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Requirements: PLAT-08
func TestReplayAcceptsRecordedRunsAndRefusesForeignOnes(t *testing.T) {
	t.Parallel()
	recorded, err := filepath.Glob("../../workflows/testdata/histories/chat*.json")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("no recorded histories: %v", err)
	}
	history, err := os.ReadFile(recorded[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.json")
	if err := os.WriteFile(foreign, bytes.ReplaceAll(history, []byte("ChatTurn"), []byte("Unheard")), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.json")
	good, err := filepath.Abs(recorded[0])
	if err != nil {
		t.Fatal(err)
	}

	code, text, _ := finish(t, nil, "replay", good)
	if code != exitOK {
		t.Errorf("a recorded run ended with %d: %s", code, text)
	}
	code, text, said := finish(t, nil, "replay", "--json", good, foreign, missing)
	var found []replayed
	if err := json.Unmarshal([]byte(text), &found); err != nil || code != exitFailed {
		t.Fatalf("code %d, %v: %s%s", code, err, text, said)
	}
	if len(found) != 3 || !found[0].OK || found[1].OK || found[1].Fault == "" || found[2].OK {
		t.Errorf("got %+v", found)
	}
}

func TestMigrateMayRunAgainAndNamesTheStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for range 2 {
		code, text, said := finish(t, nil, "migrate", "--data", data)
		if code != exitOK {
			t.Fatalf("it ended with %d: %s", code, said)
		}
		has(t, text, data, "is up to date")
	}
}
