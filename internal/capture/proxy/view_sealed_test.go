package proxy

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
	"liminal/internal/vault"
	"liminal/internal/view"
)

// With keys neither plans nor what is in force tell on the disk what an agent read, and
// without them nothing of it is written over.
//
// palace.md, 6: At rest
func TestWhatIsInForceIsSealed(t *testing.T) {
	t.Parallel()
	keys, err := vault.NewRing("a:"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), vault.MinKey)), "liminal palace")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	k := talking(t, &capturetest.Upstream{Binding: &capturetest.Binding{}, Next: calls(3, func(int) map[string]any { read++; return file(read) })})
	k.proxy.View(k.dir, keys)
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	name := view.FileName("session:" + session)
	plan := filepath.Join(k.dir, viewsDir, name)
	raw, err := os.ReadFile(plan)
	if err == nil {
		err = os.WriteFile(plan, capture.SealFile(keys, "views/"+name, raw), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.turn("A person says so.")
	inForce := func() []byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(k.dir, epochsDir, name))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	aside := func() int { return bytes.Count(k.last().Body, []byte("[palace: block ")) }
	was := inForce()
	if !vault.Sealed(was) || bytes.Contains(was, []byte("src/")) || aside() != 3 {
		t.Fatalf("%d are set aside, and %.60q is in force", aside(), was)
	}
	if !Views(k.dir, keys) || Views(k.dir, nil) {
		t.Error("the newest plan is not read, or without its key")
	}
	k.proxy.View(k.dir, keys) // killed and started anew
	k.turn("And on.")
	if aside() != 3 {
		t.Errorf("after a restart %d are set aside", aside())
	}
	k.proxy.View(k.dir, nil) // as above, by somebody who has no keys
	k.turn("And without.")
	if v := k.proxy.Counts().Views; aside() != 0 || v.Lost != 1 || v.Opened != 0 || !bytes.Contains(k.last().Body, []byte("drop_block")) || !bytes.Equal(inForce(), was) {
		t.Errorf("without keys %d are set aside: %+v", aside(), v)
	}
	k.proxy.View(k.dir, keys)
	k.turn("And with them.")
	if aside() != 3 {
		t.Errorf("with the keys again %d are set aside", aside())
	}
	// Who moves a file to another's name gets nothing.
	var list []view.Epoch
	other := filepath.Join(k.dir, epochsDir, view.FileName("session:other"))
	if err := os.WriteFile(other, was, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readFile(keys, other, &list); err == nil {
		t.Errorf("%+v", list)
	}
}
