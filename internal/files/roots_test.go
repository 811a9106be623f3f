package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// rows is a Store in a map.
type rows struct {
	mu   sync.Mutex
	rows map[string]File
}

func (s *rows) PutFile(_ context.Context, v identity.Viewer, f File, b Bounds) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := b.Room(s.usage(v, f.Path), f.Size); err != nil {
		return err
	}
	s.rows[v.UserID+"/"+f.Path] = f
	return nil
}

func (s *rows) usage(v identity.Viewer, but string) (u Usage) {
	for _, f := range s.rows {
		if f.UserID == v.UserID && f.Path != but {
			u.Bytes, u.Files = u.Bytes+f.Size, u.Files+1
		}
	}
	return u
}

func (s *rows) Usage(_ context.Context, v identity.Viewer) (Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage(v, ""), nil
}

func (s *rows) File(_ context.Context, v identity.Viewer, path string) (File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.rows[v.UserID+"/"+path]
	if !ok {
		return File{}, fault.New(fault.NotFound, "There is no such file.")
	}
	return f, nil
}

func (s *rows) ListFiles(_ context.Context, v identity.Viewer, _ string, _ int) (list []File, _ string, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.rows {
		if f.UserID == v.UserID {
			list = append(list, f)
		}
	}
	return list, "", nil
}

func (s *rows) DeleteFile(_ context.Context, v identity.Viewer, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, v.UserID+"/"+path)
	return nil
}

type bundle struct {
	*Roots
	dir      string
	ada, bob identity.Viewer
}

func setup(t *testing.T) bundle {
	t.Helper()
	b := bundle{dir: t.TempDir(), ada: identity.Viewer{UserID: id.New()}, bob: identity.Viewer{UserID: id.New()}}
	r, err := OpenRoots(b.dir, &rows{rows: map[string]File{}}, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	b.Roots = r
	return b
}

func (b bundle) save(t *testing.T, v identity.Viewer, name, body string) File {
	t.Helper()
	f, err := b.Save(t.Context(), v, name, strings.NewReader(body), Bounds{File: 1 << 20})
	if err != nil {
		t.Fatalf("save %q: %v", name, err)
	}
	return f
}

// Requirements: FILE-01
func TestSaveStoresBelowTheUsersOwnFolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.ada, "notes.md", "hello")
	if f.Path != "files/notes.md" || f.Size != 5 || f.MIME != "text/markdown" ||
		f.SHA256 != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("file = %+v", f)
	}
	data, err := os.ReadFile(filepath.Join(b.dir, "users", b.ada.UserID, "files", "notes.md"))
	if err != nil || string(data) != "hello" {
		t.Errorf("on disk: %q, %v", data, err)
	}
	if got := b.FSPath(f); got != "/users/"+b.ada.UserID+"/files/notes.md" {
		t.Errorf("fs path = %s", got)
	}
	left, _ := os.ReadDir(filepath.Join(b.dir, "users", b.ada.UserID, "tmp"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSameNameSameContentIsTheSameFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.save(t, b.ada, "a.txt", "one")
	again := b.save(t, b.ada, "a.txt", "one")
	other := b.save(t, b.ada, "a.txt", "two")
	third := b.save(t, b.ada, "a.txt", "two")
	if again.Path != first.Path || other.Path != "files/a (2).txt" || third.Path != other.Path {
		t.Errorf("paths: %s %s %s %s", first.Path, again.Path, other.Path, third.Path)
	}
}

func TestUploadsOfOneNameAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paths := make([]string, 8)
	var wg sync.WaitGroup
	for i := range paths {
		wg.Go(func() {
			f, err := b.Save(context.Background(), b.ada, "a.txt", strings.NewReader(strings.Repeat("x", i+1)), Bounds{File: 100})
			if err != nil {
				t.Error(err)
			}
			paths[i] = f.Path
		})
	}
	wg.Wait()
	for i, p := range paths {
		if data, err := b.Read(t.Context(), b.ada, p, 100); err != nil || len(data) != i+1 {
			t.Errorf("%s holds %d bytes, want %d (%v)", p, len(data), i+1, err)
		}
	}
}

// Requirements: FILE-03, FILE-04
func TestSaveRefusesWhatIsTooLargeOrOfNoAllowedType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.Save(t.Context(), b.ada, "a.txt", strings.NewReader("123456"), Bounds{File: 5}); !errors.Is(err, fault.Invalid) {
		t.Errorf("too large: %v", err)
	}
	if f := b.save(t, b.ada, "exact.txt", "12345"); f.Size != 5 {
		t.Errorf("a file at the limit: %+v", f)
	}
	for _, name := range []string{"a.exe", "a", "a.txt.sh~", ".bashrc", "a.svg"} {
		if _, err := b.Save(t.Context(), b.ada, name, strings.NewReader("x"), Bounds{File: 5}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, _ := os.ReadDir(filepath.Join(b.dir, "users", b.ada.UserID, "tmp"))
	if len(entries) != 0 {
		t.Errorf("refused uploads left %v", entries)
	}
}

func TestABrokenUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := io.MultiReader(strings.NewReader("half"), failing{})
	if _, err := b.Save(t.Context(), b.ada, "a.txt", broken, Bounds{File: 100}); err == nil {
		t.Fatal("a broken upload was saved")
	}
	for _, dir := range []string{"tmp", "files"} {
		if entries, _ := os.ReadDir(filepath.Join(b.dir, "users", b.ada.UserID, dir)); len(entries) != 0 {
			t.Errorf("%s holds %v", dir, entries)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the line broke") }

// Requirements: FILE-06
func TestNamesAreMadeHarmless(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"../../etc/passwd.txt":           "passwd.txt",
		`..\..\windows\win.ini`:          "win.ini",
		"/absolute/a.md":                 "a.md",
		"a\x00b.txt":                     "ab.txt",
		"CON.txt":                        "_CON.txt",
		"con.tar.txt":                    "_con.tar.txt",
		"lpt1":                           "_lpt1",
		".hidden.md":                     "hidden.md",
		"...":                            "file",
		"":                               "file",
		"/":                              "file",
		"a<b>:c|d?.txt":                  "a_b__c_d_.txt",
		"trailing. .\u0020":              "trailing",
		"gpj.\u202etxt.md":               "gpj.txt.md",
		"Bu\u0308cher.md":                "B\u00fccher.md",
		strings.Repeat("ä", 300):         strings.Repeat("ä", 100),
		strings.Repeat("x", 300) + ".md": strings.Repeat("x", 197) + ".md",
		"bad\xffutf8.txt":                "bad_utf8.txt",
	} {
		if got := CleanName(in); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	f.Add("../a.txt")
	f.Add("con")
	f.Fuzz(func(t *testing.T, name string) {
		got := CleanName(name)
		if got == "" || len(got) > maxName || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\\x00") || got[0] == '.' {
			t.Errorf("CleanName(%q) = %q", name, got)
		}
		if again := CleanName(got); again != got {
			t.Errorf("cleaned twice: %q then %q", got, again)
		}
	})
}

// Requirements: ISO-03, FILE-06
func TestNothingOutsideTheOwnFolderIsReached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	secret := b.save(t, b.bob, "secret.txt", "bob's")
	if err := os.WriteFile(filepath.Join(b.dir, "outside.txt"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.save(t, b.ada, "a.txt", "x")
	home := filepath.Join(b.dir, "users", b.ada.UserID, "files")
	link(t, os.Symlink, filepath.Join(b.dir, "outside.txt"), filepath.Join(home, "absolute.txt"))
	link(t, os.Symlink, "../../../outside.txt", filepath.Join(home, "relative.txt"))
	link(t, os.Symlink, filepath.Join(b.dir, "users", b.bob.UserID), filepath.Join(home, "dir"))
	for _, p := range []string{
		"../outside.txt", "files/../../" + b.bob.UserID + "/files/secret.txt", "/etc/passwd", "files/../tmp/x",
		"files/absolute.txt", "files/relative.txt", "files/dir/files/secret.txt", "files\\a.txt", "files/a.txt\x00",
		"files//a.txt", "files/./a.txt", "files/", "files", "", "tmp/a", "FILES/a.txt", strings.Repeat("a/", 600),
		"../" + b.bob.UserID + "/" + secret.Path, "files/" + strings.Repeat("x", 300),
	} {
		if f, err := b.Open(t.Context(), b.ada, p); !errors.Is(err, fault.NotFound) {
			t.Errorf("Open(%q) = %v, %v", p, f, err)
		}
		if err := b.Delete(t.Context(), b.ada, p); !errors.Is(err, fault.NotFound) {
			t.Errorf("Delete(%q): %v", p, err)
		}
		if _, _, err := b.Link(t.Context(), b.ada, p, "s", time.Now()); !errors.Is(err, fault.NotFound) {
			t.Errorf("Link(%q): %v", p, err)
		}
	}
	if _, err := b.Replace(t.Context(), b.ada, "files/dir/files/secret.txt", strings.NewReader("mine"), Bounds{File: 100}); err == nil {
		t.Error("Replace wrote through a link")
	}
	if data, _ := b.Read(t.Context(), b.bob, secret.Path, 100); string(data) != "bob's" {
		t.Errorf("bob's file now says %q", data)
	}
	if _, err := b.Open(t.Context(), identity.Viewer{UserID: "../" + b.bob.UserID}, secret.Path); err == nil {
		t.Error("a viewer with a path for an id opened a file")
	}
}

// Requirements: ISO-05
func TestHardLinksAreNeitherMadeNorFollowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, theirs := b.save(t, b.ada, "a.txt", "same"), b.save(t, b.bob, "a.txt", "same")
	at := func(v identity.Viewer, f File) string { return filepath.Join(b.dir, "users", v.UserID, f.Path) }
	one, _ := os.Stat(at(b.ada, mine))
	two, _ := os.Stat(at(b.bob, theirs))
	if os.SameFile(one, two) || names(one) != 1 || names(two) != 1 {
		t.Error("two people's equal files share an inode")
	}
	link(t, os.Link, at(b.bob, theirs), filepath.Join(b.dir, "users", b.ada.UserID, "files", "linked.txt"))
	if _, err := b.Open(t.Context(), b.ada, "files/linked.txt"); !errors.Is(err, fault.NotFound) {
		t.Errorf("a hard link was followed: %v", err)
	}
}

func link(t *testing.T, make func(from, to string) error, from, to string) {
	t.Helper()
	if err := make(from, to); err != nil {
		t.Fatalf("this file system has no links: %v", err)
	}
}

// Requirements: FILE-02
func TestFilesAreListedAndDeletedByTheirOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.ada, "a.txt", "x")
	if list, _, _ := b.List(t.Context(), b.bob, "", 10); len(list) != 0 {
		t.Errorf("bob sees %v", list)
	}
	if err := b.Delete(t.Context(), b.bob, f.Path); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob deleted it: %v", err)
	}
	if err := b.Delete(t.Context(), b.ada, f.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(t.Context(), b.ada, f.Path); !errors.Is(err, fault.NotFound) {
		t.Errorf("deleted but there: %v", err)
	}
	if list, _, _ := b.List(t.Context(), b.ada, "", 10); len(list) != 0 {
		t.Errorf("still listed: %v", list)
	}
}

func TestReplaceWritesOverAndMakesFolders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.save(t, b.ada, "a.txt", "old")
	for _, p := range []string{"files/a.txt", "files/src/main.go"} {
		if _, err := b.Replace(t.Context(), b.ada, p, strings.NewReader("new"), Bounds{File: 100}); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if data, err := b.Read(t.Context(), b.ada, p, 100); err != nil || string(data) != "new" {
			t.Errorf("%s holds %q, %v", p, data, err)
		}
	}
	for _, p := range []string{"a.txt", "files/../a.txt", "files/con.txt", "files/a.exe", "files/src"} {
		if _, err := b.Replace(t.Context(), b.ada, p, strings.NewReader("new"), Bounds{File: 100}); err == nil {
			t.Errorf("%s was written", p)
		}
	}
}

// Requirements: FILE-05
func TestLinksWorkForTenMinutesAndOnlyAsSigned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.ada, "a.txt", "hello")
	b.save(t, b.ada, "b.txt", "other")
	now := time.Now()
	q, expires, err := b.Link(t.Context(), b.ada, f.Path, "s", now)
	if err != nil || expires.Sub(now) > 10*time.Minute || expires.Sub(now) < 9*time.Minute {
		t.Fatalf("expires in %v, %v", expires.Sub(now), err)
	}
	got, body, err := b.Follow(t.Context(), q, b.live, now.Add(9*time.Minute))
	if err != nil || got.Path != f.Path {
		t.Fatalf("follow: %+v, %v", got, err)
	}
	data, _ := io.ReadAll(body)
	body.Close()
	if string(data) != "hello" {
		t.Errorf("downloaded %q", data)
	}
	if _, _, err := b.Follow(t.Context(), q, b.live, now.Add(10*time.Minute)); !errors.Is(err, fault.Forbidden) {
		t.Errorf("after ten minutes: %v", err)
	}
	for field, value := range map[string]string{"path": "files/b.txt", "user": b.bob.UserID, "expires": "99999999999", "session": "t", "signature": "x"} {
		old := q.Get(field)
		q.Set(field, value)
		if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
			t.Errorf("with another %s: %v", field, err)
		}
		q.Set(field, old)
	}
	if _, _, err := b.Link(t.Context(), b.bob, f.Path, "s", now); !errors.Is(err, fault.NotFound) {
		t.Errorf("bob got a link: %v", err)
	}
}

// live knows the one session there is.
func (b bundle) live(_ context.Context, userID, session string) error {
	if userID != b.ada.UserID || session != "s" {
		return fault.New(fault.Forbidden, "It is over.")
	}
	return nil
}

// Requirements: FILE-05, AUTH-05
func TestALinkEndsWithItsSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.ada, "a.txt", "hello")
	now := time.Now()
	q, _, err := b.Link(t.Context(), b.ada, f.Path, "of before", now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
		t.Errorf("followed after its session: %v", err)
	}
}

// A link to what another person keeps names who may follow it, whose file it is
// and what it is called, and none of that can be changed.
//
// Requirements: FILE-05, ISO-03
func TestALinkToASharedFileIsOfAllItSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := b.save(t, b.bob, "a.txt", "hello")
	b.save(t, b.ada, "a.txt", "hers")
	b.save(t, b.bob, "b.txt", "other")
	now := time.Now()
	q, _, err := b.LinkShared(t.Context(), b.ada, Shared{UserID: b.bob.UserID, Path: f.Path, Name: "../of bob.txt"}, "s", now)
	if err != nil {
		t.Fatal(err)
	}
	got, body, err := b.Follow(t.Context(), q, b.live, now)
	if err != nil || got.Name != "of bob.txt" || got.UserID != b.bob.UserID {
		t.Fatalf("follow: %+v, %v", got, err)
	}
	data, _ := io.ReadAll(body)
	body.Close()
	if string(data) != "hello" {
		t.Errorf("downloaded %q", data)
	}
	for field, value := range map[string]string{"path": "files/b.txt", "owner": b.ada.UserID, "user": b.bob.UserID, "name": "x.html", "session": "t", "expires": "99999999999"} {
		old := q.Get(field)
		q.Set(field, value)
		if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
			t.Errorf("with another %s: %v", field, err)
		}
		q.Set(field, old)
	}
	q.Del("owner")
	if _, _, err := b.Follow(t.Context(), q, b.live, now); !errors.Is(err, fault.Forbidden) {
		t.Errorf("as a link to her own: %v", err)
	}
	own, _, err := b.Link(t.Context(), b.ada, f.Path, "s", now)
	if err != nil {
		t.Fatal(err)
	}
	own.Set("name", "x.html")
	got, body, err = b.Follow(t.Context(), own, b.live, now)
	if err != nil || got.Name != "a.txt" {
		t.Fatalf("a name nothing vouches for: %+v, %v", got, err)
	}
	body.Close()
	own.Set("owner", b.bob.UserID)
	if _, _, err := b.Follow(t.Context(), own, b.live, now); !errors.Is(err, fault.Forbidden) {
		t.Errorf("her own link as one to his: %v", err)
	}
}

func TestWhereAFileCameFromHasOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"notes/may.md": "notes/may.md", `notes\may.md`: "notes/may.md", "/notes//./../may.md": "notes/may.md", "a\x00b/c\u202ed.md": "ab/cd.md",
		"": "", strings.Repeat("x/", 600): "", "no\u0308tig.md": "nötig.md",
	} {
		if got := CleanOrigin(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestExtensionsAreListedOnceAndSorted(t *testing.T) {
	t.Parallel()
	list := Extensions()
	for _, want := range []string{".txt", ".md", ".html", ".htm", ".pdf"} {
		if !slices.Contains(list, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if !slices.IsSorted(list) {
		t.Error("not sorted")
	}
}
