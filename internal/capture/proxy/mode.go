package proxy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/vault"
	"liminal/internal/view"
)

// modeFile says what a person's policy lets views do.
const modeFile = "mode.json"

// Views reports whether the policy of the person whose palace folder it is lets views
// set results aside. Where no platform has said so, the newest plan does.
func Views(dir string, keys *vault.Ring) bool {
	dir = filepath.Join(dir, viewsDir)
	var said struct {
		Mode view.Mode `json:"mode"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, modeFile)); err == nil && json.Unmarshal(raw, &said) == nil {
		return said.Mode == view.Live
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	var newest time.Time
	live := false
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		var plan view.Plan
		if readFile(keys, filepath.Join(dir, f.Name()), &plan) != nil || !plan.MadeAt.After(newest) && !newest.IsZero() {
			continue
		}
		newest, live = plan.MadeAt, plan.Mode == view.Live
	}
	return live
}
