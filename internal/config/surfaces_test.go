package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/config"
)

// Requirements: GRND-26 (settings), GRND-27 (settings)
func TestASurfaceHasSettingsOfItsOwn(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{
		"FRONT_DESK_ENABLED=false", "FRONT_DESK_MODEL=m", "FRONT_DESK_HOURLY_CAP=5", "FRONT_DESK_GLOBAL_HOURLY_CAP=50",
		"FRONT_DESK_MAX_INPUT_TOKENS=900", "FRONT_DESK_MAX_OUTPUT_TOKENS=90", "FRONT_DESK_AUDIT=full", "OTHER_HOURLY_CAP=many", "SOMEBODYS_MODEL=x",
	}, nil)
	if err != nil {
		t.Fatal(err) // what is another program's is not ours to judge
	}
	got, err := c.Surface("front-desk")
	if err != nil || got.Enabled == nil || *got.Enabled {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Enabled = nil
	if got != (config.Surface{Model: "m", HourlyCap: 5, GlobalHourlyCap: 50, MaxInputTokens: 900, MaxOutputTokens: 90, Audit: "full"}) {
		t.Errorf("%+v", got)
	}
	if got, err := c.Surface("nobody"); err != nil || got != (config.Surface{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.Surface("other"); err == nil || !strings.Contains(err.Error(), "OTHER_HOURLY_CAP=many") {
		t.Errorf("a cap that is no number: %v", err)
	}
}

// Requirements: GRND-42
func TestTheFilesOfATextModelAreInAFolderOfTheSurface(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"MODEL_BACKEND=textfile", "FRONT_DESK_RESPONSE_DIR=/srv/desk"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"front-desk": "/srv/desk", "paliadin": filepath.Join(os.TempDir(), "paliadin"),
		"": filepath.Join(os.TempDir(), "liminal"), "../etc": filepath.Join(os.TempDir(), "liminal"),
	} {
		if got := c.ResponseDir(path); got != want {
			t.Errorf("of %q: %s, want %s", path, got, want)
		}
	}
}
