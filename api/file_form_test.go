package api

import (
	"strings"
	"testing"

	"liminal/internal/id"
)

// Whatever a client makes of its form is its own fault, and a file's name is
// never more than a name.
//
// Requirements: FILE-06
func TestAnUploadThatIsNotWellFormedIsRefused(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
	for name, body := range map[string]string{
		"NUL in the name":       "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\x00.txt\"\r\n\r\nx\r\n--b--\r\n",
		"a header of no value":  "--b\r\nContent-Disposition\r\n\r\nx\r\n--b--\r\n",
		"a header of NUL":       head + "X-\x00: 1\r\n\r\nx\r\n--b--\r\n",
		"a line that is folded": "--b\r\n Content-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
		"headers without end":   head + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 50),
		"many headers":          head + strings.Repeat("X: y\r\n", 20_000) + "\r\nx\r\n--b--\r\n",
		"no end":                head + "\r\nx",
		"another boundary":      strings.ReplaceAll(head, "--b", "--c") + "\r\nx\r\n--c--\r\n",
		"nothing":               "",
		"rubbish":               "\x00\xff\r\n",
		"no name":               "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
		"bad quoted-printable":  head + "Content-Transfer-Encoding: quoted-printable\r\n\r\n=\x00=zz\r\n--b--\r\n",
		"text after the end":    "--b--\r\nrest",
	} {
		got := ada.do("POST", "/v1/files/upload", body, "Content-Type", "multipart/form-data; boundary=b")
		if got.status != 400 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for _, kind := range []string{"multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=b", "text/plain", "multipart/form-data; boundary=" + strings.Repeat("b", 5000)} {
		if got := ada.do("POST", "/v1/files/upload", "x", "Content-Type", kind); got.status != 400 {
			t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
	}
	if list := items(ada.get("/v1/files").ok()); len(list) != 0 {
		t.Errorf("stored: %v", list)
	}
}

// Requirements: FILE-06
func TestAHostileNameIsAPlainOneOrRefused(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	for _, name := range []string{
		`filename="../../x.txt"`, `filename="a\x01\x7f.txt"`, "filename=\"a\xff\xfe.txt\"", `filename="` + strings.Repeat("n", 5000) + `.txt"`,
		`filename="` + strings.Repeat("../", 2000) + `x.txt"`, "filename*=UTF-8''a%00b.txt", "filename*=UTF-8''%2e%2e%2fx.txt", "filename*=UTF-8''%ff%fe.txt",
		`filename=".."`, `filename="..txt"`, `filename=""`, `filename="a.` + strings.Repeat("t", 300) + `"`, "filename=\"a\u202etxt.exe.txt\"", `filename="NUL.txt"`, "filename=\"a\tb.txt\"",
	} {
		body := "--b\r\nContent-Disposition: form-data; name=\"file\"; " + name + "\r\n\r\n" + id.New() + "\r\n--b--\r\n"
		got := ada.do("POST", "/v1/files/upload", body, "Content-Type", "multipart/form-data; boundary=b")
		switch got.status {
		case 400:
		case 200:
			f := got.ok()["file"].(map[string]any)
			stored, _ := f["name"].(string)
			if len(stored) > 220 || strings.ContainsAny(stored, "/\\\x00\x01\x7f\t\u202e") || f["path"] != "files/"+stored || strings.HasPrefix(stored, ".") {
				t.Errorf("%.80q became %q at %v", name, stored, f["path"])
			}
		default:
			t.Errorf("%.80q: %d %s", name, got.status, got.body)
		}
	}
}

// Requirements: FILE-05, AUTH-05, AUTH-09
func TestALinkEndsWithTheSignInThatMadeIt(t *testing.T) {
	t.Parallel()
	const password, next = "correct horse", "another horse"
	for name, end := range map[string]func(p, other *person){
		"signed out":           func(p, _ *person) { p.post("/v1/auth/logout", nil).ok() },
		"ended from elsewhere": func(_, other *person) { other.do("DELETE", "/v1/auth/sessions", nil).ok() },
		"another password": func(p, _ *person) {
			p.post("/v1/auth/password", map[string]any{"old_password": password, "new_password": next}).ok()
		},
		"another password, elsewhere": func(_, other *person) {
			other.post("/v1/auth/password", map[string]any{"old_password": password, "new_password": next}).ok()
		},
		"the account deleted": func(p, _ *person) { p.do("DELETE", "/v1/auth/me", map[string]any{"password": password}).ok() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.signUp("admin@example.org")
			ada, nobody := w.signUp("ada@example.org"), &person{world: w}
			other := w.personOf(nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": password}).ok())
			ada.upload("a.txt", "hello").ok()
			link := ada.post("/v1/files/link", map[string]any{"path": "files/a.txt"}).ok()["url"].(string)
			if got := nobody.get(link); string(got.body) != "hello" {
				t.Fatalf("before: %d %s", got.status, got.body)
			}
			end(ada, other)
			nobody.get(link).fails(403, "forbidden")
		})
	}
}
