package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
)

// What a tool writes over stays readable for its person, and no watched folder
// reads it in.
//
// Requirements: CLAUDE-07
func TestWhatIsWrittenOverIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, bounds := t.Context(), Bounds{File: 1 << 20}
	put := func(content string) bool {
		_, created, err := b.Put(ctx, b.ada, "files/diary/a.md", []byte(content), bounds)
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	if !put("one") || put("two") || put("three") {
		t.Error("what is new and what is not is mixed up")
	}
	trash := func() (said []string) {
		kept, _ := filepath.Glob(filepath.Join(b.dir, "users", b.ada.UserID, Trash, "*"))
		for _, p := range kept {
			raw, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(raw))
			if _, err := b.File(ctx, b.ada, Trash+"/"+filepath.Base(p)); err != nil {
				t.Errorf("%s has no row: %v", p, err)
			}
		}
		return said
	}
	if got := strings.Join(trash(), " "); got != "one two" {
		t.Errorf("kept is %q", got)
	}
	if list, err := b.Walk(ctx, b.ada, Dir, true); err != nil || len(list) != 1 || list[0].Path != "files/diary/a.md" {
		t.Errorf("walked %v, %v", list, err)
	}
	for n := range trashEach + 3 {
		put(fmt.Sprint(n))
	}
	if got := trash(); len(got) != trashEach || got[len(got)-1] != fmt.Sprint(trashEach+1) {
		t.Errorf("kept are %d, the last %q", len(got), got[len(got)-1])
	}
	old := filepath.Join(b.dir, "users", b.ada.UserID, Trash, time.Now().UTC().Add(-TrashFor-time.Hour).Format(stamp)+"b.md")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Adopt(ctx, b.ada, Trash+"/"+filepath.Base(old), bounds); err != nil {
		t.Fatal(err)
	}
	put("last")
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after %s it is still there: %v", TrashFor, err)
	}
	full := Bounds{File: 1 << 20, Count: 1}
	if _, _, err := b.Put(ctx, b.ada, "files/diary/a.md", []byte("no room"), full); !errors.Is(err, fault.Conflict) {
		t.Errorf("without room: %v", err)
	}
	if raw, _ := os.ReadFile(filepath.Join(b.dir, "users", b.ada.UserID, "files/diary/a.md")); string(raw) != "last" {
		t.Errorf("without room for what is written over it was written: %q", raw)
	}
}

// Requirements: CLAUDE-07, ISO-05
func TestAFolderIsListedWithoutLinksAndNobodyElsesIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []string{"files/a.md", "files/sub/b.md", "files/.hidden.md"} {
		if _, err := b.Replace(t.Context(), b.ada, strings.Replace(p, ".hidden", "hidden", 1), strings.NewReader("x"), Bounds{File: 9}); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(b.dir, "users", b.ada.UserID, "files")
	outside := t.TempDir()
	for _, err := range []error{
		os.Rename(filepath.Join(home, "hidden.md"), filepath.Join(home, ".hidden.md")), os.Symlink(outside, filepath.Join(home, "away")), os.Symlink(filepath.Join(home, "a.md"), filepath.Join(home, "link.md")),
		os.WriteFile(filepath.Join(outside, "secret.md"), []byte("x"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	list, more, err := b.Dir(t.Context(), b.ada, Dir, 10)
	if err != nil || more || fmt.Sprint(list) != "[{a.md false 1} {sub true 0}]" {
		t.Errorf("%v, %v, %v", list, more, err)
	}
	if list, more, err := b.Dir(t.Context(), b.ada, Dir, 1); err != nil || !more || len(list) != 1 {
		t.Errorf("one of them: %v, %v, %v", list, more, err)
	}
	for _, p := range []string{"files/away", "files/none", "files/../..", "/etc", "files/a.md", "users", ""} {
		if list, _, err := b.Dir(t.Context(), b.ada, p, 10); !errors.Is(err, fault.NotFound) {
			t.Errorf("%q holds %v, %v", p, list, err)
		}
	}
}
