package files

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// Requirements: FILE-07
func TestSweepRemovesWhatNobodyWritesToAnyMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.save(t, b.ada, "kept.txt", "kept")
	b.save(t, b.bob, "kept.txt", "kept")
	outside := filepath.Join(b.dir, "outside.txt")
	write(t, outside, 96*time.Hour)
	for path, age := range map[string]time.Duration{
		"ada/old.part": 25 * time.Hour, "ada/young.part": 23 * time.Hour, "bob/old.part": 48 * time.Hour,
		"ada/job/old": 30 * time.Hour, "ada/busy/young": time.Minute, "ada/busy/old": 30 * time.Hour,
	} {
		who, rest, _ := strings.Cut(path, "/")
		write(t, filepath.Join(b.home(who), "tmp", rest), age)
	}
	link(t, os.Symlink, outside, filepath.Join(b.home("ada"), "tmp", "link"))
	age(t, filepath.Join(b.home("ada"), "tmp", "job"), 30*time.Hour)
	write(t, filepath.Join(b.dir, "users", "no-person", "tmp", "old"), 48*time.Hour)
	n, err := b.SweepTemporary(t.Context(), 24*time.Hour)
	if err != nil || n != 5 {
		t.Errorf("removed %d, %v", n, err)
	}
	if got := under(t, filepath.Join(b.home("ada"), "tmp")); !slices.Equal(got, []string{"busy", "busy/young", "link", "young.part"}) {
		t.Errorf("ada's folder holds %v", got)
	}
	if got := under(t, filepath.Join(b.home("bob"), "tmp")); len(got) != 0 {
		t.Errorf("bob's folder holds %v", got)
	}
	for _, path := range []string{outside, filepath.Join(b.home("ada"), "files", "kept.txt"), filepath.Join(b.dir, "users", "no-person", "tmp", "old")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}

// Requirements: FILE-07
func TestSweepLeavesAnUploadThatIsUnderWay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	arriving, sender := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := b.Save(t.Context(), b.ada, "long.txt", arriving, Bounds{File: 100})
		done <- err
	}()
	if _, err := sender.Write([]byte("first ")); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Join(b.home("ada"), "tmp")
	part := filepath.Join(tmp, under(t, tmp)[0])
	age(t, part, 48*time.Hour)
	for _, word := range []string{"second ", "third"} { // the later write is behind the one before: its time is the file's
		if _, err := sender.Write([]byte(word)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := b.SweepTemporary(t.Context(), 24*time.Hour); n != 0 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	sender.Close()
	if err := <-done; err != nil {
		t.Errorf("the upload: %v", err)
	}
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	if n, err := setup(t).SweepTemporary(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
}

func (b bundle) home(who string) string {
	of := map[string]identity.Viewer{"ada": b.ada, "bob": b.bob}[who]
	return filepath.Join(b.dir, "users", of.UserID)
}

// write makes a file that was last written to so long ago.
func write(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(id.New()), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, path, ago)
}

func age(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	at := time.Now().Add(-ago)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// under lists a folder with all below it.
func under(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && path != dir {
			list = append(list, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
