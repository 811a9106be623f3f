package serve_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
)

func TestOnlyWhatPeftReadsIsHandedOutAndOnlyWhole(t *testing.T) {
	root := t.TempDir()
	at := filepath.Join("users", "ann", "v0001")
	dir := filepath.Join(root, at)
	sum := version(t, dir, peft.Base{Config: shape, Name: "little", Fingerprint: strings.Repeat("ab", 32)})
	for _, private := range []string{"metadata.json", "batches"} {
		if err := os.WriteFile(filepath.Join(dir, private), []byte("what people said"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders := serve.Folders{Root: root}
	files, err := folders.Peft(at, sum)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := fs.ReadDir(files, ".")
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || strings.Join(names, " ") != "adapter_config.json adapter_model.safetensors params.json" {
		t.Errorf("handed out: %v (%v)", names, err)
	}
	for what, c := range map[string]struct {
		dir, sum string
		code     fault.Code
	}{
		"another checksum": {at, strings.Repeat("0", 64), fault.Internal}, "no folder": {"users/ann/v0009", "", fault.NotFound},
		"a way out": {"../" + filepath.Base(root) + "/" + at, sum, fault.NotFound},
	} {
		if _, err := folders.Peft(c.dir, c.sum); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	weights := filepath.Join(dir, peft.WeightsFile)
	if err := errors.Join(os.Rename(weights, secret), os.Symlink(secret, weights)); err != nil {
		t.Fatal(err)
	}
	if _, err := folders.Peft(at, sum); fault.CodeOf(err) != fault.Internal {
		t.Errorf("a link in the place of a file: %v", err)
	}
}
