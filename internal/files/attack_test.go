package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
)

// Requirements: ISO-03, FILE-06
func TestPathsThatLookLikeOthersReachNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	theirs := b.save(t, b.bob, "secret.txt", "bob's")
	b.save(t, b.ada, "a.txt", "x")
	user := b.bob.UserID
	for _, p := range []string{
		"files/%2e%2e/%2e%2e/" + user + "/" + theirs.Path, "files%2F..%2F..%2F" + user, "%2e%2e/" + user + "/" + theirs.Path,
		"files/．．/．．/" + user + "/" + theirs.Path, "files/‥/‥/" + user, "files∕..∕..∕" + user + "/" + theirs.Path, "files/..／..／" + user,
		"files/..\x00/../" + user, "files/a.txt\x00.md", `files\..\..\` + user + `\` + theirs.Path, `\\host\share\a.txt`, `C:\Users\a.txt`, "C:/a.txt",
		"file:///etc/passwd", "//etc/passwd", "/users/" + user + "/" + theirs.Path, "users/" + user + "/" + theirs.Path, "~/a.txt", "files/~root/a.txt",
		"files/a.txt/", "files/a.txt/.", "files/a.txt/../a.txt", "files/ /../a.txt", "files/\u202e/a.txt", "files/.../a.txt", "files/....//a.txt",
		"files/a.txt\n", "files/a.txt:stream", "FILES/a.txt", "files/A.TXT", "files/\xff\xfe",
	} {
		if f, err := b.Open(t.Context(), b.ada, p); !errors.Is(err, fault.NotFound) {
			t.Errorf("Open(%q) = %v, %v", p, f, err)
		}
		if _, err := b.File(t.Context(), b.ada, p); !errors.Is(err, fault.NotFound) {
			t.Errorf("File(%q): %v", p, err)
		}
		if err := b.Delete(t.Context(), b.ada, p); !errors.Is(err, fault.NotFound) {
			t.Errorf("Delete(%q): %v", p, err)
		}
		if _, err := b.Replace(t.Context(), b.ada, p, strings.NewReader("mine"), Bounds{File: 9}); err == nil && !strings.HasPrefix(p, "files/") {
			t.Errorf("Replace(%q) wrote", p)
		}
	}
	if data, _ := b.Read(t.Context(), b.bob, theirs.Path, 9); string(data) != "bob's" {
		t.Errorf("bob's file now says %q", data)
	}
	if entries := under(t, filepath.Join(b.dir, "users")); len(entries) > 60 {
		t.Errorf("there is more than before: %v", entries)
	}
}

// Requirements: ISO-03, ISO-05
func TestALinkThatIsSwappedInReachesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	theirs := b.save(t, b.bob, "secret.txt", "bob's secret")
	secret := filepath.Join(b.home("bob"), theirs.Path)
	b.save(t, b.ada, "a.txt", "mine")
	at := filepath.Join(b.home("ada"), "files", "a.txt")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			swap(at, secret, n)
		}
	})
	for range 2000 {
		f, err := b.Open(t.Context(), b.ada, "files/a.txt")
		if err != nil {
			continue
		}
		data, _ := io.ReadAll(f)
		f.Close()
		if strings.Contains(string(data), "secret") {
			t.Errorf("read %q", data)
			break
		}
		if _, err := b.Replace(t.Context(), b.ada, "files/a.txt", strings.NewReader("mine"), Bounds{File: 9}); err != nil {
			continue // a link was there
		}
	}
	close(stop)
	swapping.Wait()
	if data, err := os.ReadFile(secret); string(data) != "bob's secret" {
		t.Errorf("bob's file now says %q, %v", data, err)
	}
}

// Requirements: ISO-03, ISO-05
func TestALinkThatHasGoneAgainReachesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	theirs := b.save(t, b.bob, "secret.txt", "bob's secret")
	b.save(t, b.ada, "a.txt", "mine")
	at := filepath.Join(b.home("ada"), "files", "a.txt")
	root, err := os.OpenRoot(b.home("ada"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Rename(at, at+".away"); err != nil {
		t.Fatal(err)
	}
	link(t, os.Link, filepath.Join(b.home("bob"), theirs.Path), at)
	f, err := root.Open("files/a.txt") // as openPlain does, just now
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(at+".away", at); err != nil {
		t.Fatal(err)
	}
	opened, err := f.Stat()
	if err != nil || !ordinary(opened) {
		t.Fatalf("the secret has one name again, yet it is %v, %v", opened, err)
	}
	if still(root, "files/a.txt", opened) {
		t.Error("what was opened is bob's secret and passes for ada's file")
	}
}

// swap puts a link to the secret in the file's place, or the file back.
func swap(at, secret string, n int) {
	beside := fmt.Sprint(at, ".", n)
	switch n % 3 {
	case 0:
		_ = os.Symlink(secret, beside)
	case 1:
		_ = os.Link(secret, beside)
	default:
		_ = os.WriteFile(beside, []byte("mine"), 0o600)
	}
	_ = os.Rename(beside, at)
	_ = os.Remove(beside) // renaming one name of a file over another does nothing
}

func TestAFolderThatIsSwappedForALinkTakesNoFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.save(t, b.bob, "secret.txt", "bob's")
	b.save(t, b.ada, "a.txt", "x")
	for _, dir := range []string{"files", "tmp"} {
		at := filepath.Join(b.home("ada"), dir)
		if err := os.Rename(at, at+".away"); err != nil {
			t.Fatal(err)
		}
		link(t, os.Symlink, filepath.Join(b.home("bob"), dir), at)
		if f, err := b.Save(t.Context(), b.ada, "b.txt", strings.NewReader("mine"), Bounds{File: 9}); err == nil {
			t.Errorf("with %s a link: saved %+v", dir, f)
		}
		if _, err := b.Open(t.Context(), b.ada, "files/secret.txt"); err == nil {
			t.Errorf("with %s a link: bob's file was opened", dir)
		}
		if err := errors.Join(os.Remove(at), os.Rename(at+".away", at)); err != nil {
			t.Fatal(err)
		}
	}
	if got := under(t, b.home("bob")); len(got) != 3 {
		t.Errorf("bob's folder holds %v", got)
	}
}

// Requirements: FILE-05
func TestASignatureIsOfOneFileOfOnePersonForOneTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.ada, "a.txt", "hello")
	now := time.Now()
	q, _, err := b.Link(t.Context(), b.ada, f.Path, "s", now)
	if err != nil {
		t.Fatal(err)
	}
	signature := q.Get("signature")
	for name, forged := range map[string]string{
		"nothing": "", "cut": signature[:len(signature)-1], "longer": signature + "A", "swapped": strings.ToLower(signature), "padded": signature + "=",
	} {
		q.Set("signature", forged)
		if _, _, err := b.Follow(t.Context(), q, b.live, now); forged != signature && !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	q.Set("signature", signature)
	// What is moved from one field into its neighbour is another text.
	user, path := q.Get("user"), q.Get("path")
	q.Set("user", user+path[:1])
	q.Set("path", path[1:])
	if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
		t.Errorf("with a moved border: %v", err)
	}
	q.Set("user", user)
	q.Set("path", path)
	q.Set("expires", "+"+q.Get("expires"))
	if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
		t.Errorf("with the time written otherwise: %v", err)
	}
}

func TestThereIsRoomForSoMuchAndNoMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bounds := Bounds{File: 100, Total: 10, Count: 3}
	save := func(name, body string) error {
		_, err := b.Save(t.Context(), b.ada, name, strings.NewReader(body), bounds)
		return err
	}
	if err := errors.Join(save("a.txt", "12345"), save("a.txt", "12345")); err != nil {
		t.Fatal(err)
	}
	if err := save("b.txt", "123456"); !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "Delete some files") {
		t.Errorf("beyond the total: %v", err)
	}
	if _, err := b.Replace(t.Context(), b.ada, "files/a.txt", strings.NewReader("12345678901"), bounds); !errors.Is(err, fault.Conflict) {
		t.Errorf("replaced by what there is no room for: %v", err)
	}
	if data, _ := b.Read(t.Context(), b.ada, "files/a.txt", 99); string(data) != "12345" {
		t.Errorf("the file now says %q", data)
	}
	if err := errors.Join(save("c.txt", "1"), save("d.txt", "1")); err != nil {
		t.Fatal(err)
	}
	if err := save("e.txt", "1"); !errors.Is(err, fault.Conflict) {
		t.Errorf("beyond the count: %v", err)
	}
	if got := under(t, b.home("ada")); len(got) != 5 {
		t.Errorf("what was refused left %v", got)
	}
	if _, err := b.Save(t.Context(), b.bob, "b.txt", strings.NewReader("1234567890"), bounds); err != nil {
		t.Errorf("bob has room of his own: %v", err)
	}
}
