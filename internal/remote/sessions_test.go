package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/remote"
)

// door is a server whose access tokens run out when they are told to, and whose
// refresh tokens are good once.
type door struct {
	*httptest.Server

	mu     sync.Mutex
	tokens int // the last token's number
	good   map[string]bool
	logins int
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{good: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/auth/login", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		_ = json.NewDecoder(r.Body).Decode(&in)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.logins++
		switch {
		case in["password"] != "right":
			refuse(w, 401, "unauthorized", `null`)
		case in["email"] == "two@example.org" && in["mfa_code"] != "123456":
			refuse(w, 401, "unauthorized", `{"reason":"mfa_required"}`)
		default:
			d.admit(w, in["email"])
		}
	})
	mux.HandleFunc("POST /v1/auth/refresh", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		_ = json.NewDecoder(r.Body).Decode(&in)
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.good[in["refresh_token"]] {
			refuse(w, 401, "unauthorized", `null`)
			return
		}
		delete(d.good, in["refresh_token"])
		d.admit(w, strings.Fields(in["refresh_token"])[1])
	})
	mux.HandleFunc("POST /v1/auth/logout", func(w http.ResponseWriter, r *http.Request) {
		d.expire()
		_, _ = w.Write([]byte(`{"status":"ok","data":{}}`))
	})
	mux.HandleFunc("GET /v1/who", func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !d.good[token] {
			refuse(w, 401, "unauthorized", `null`)
			return
		}
		fmt.Fprintf(w, `{"status":"ok","data":%q}`, strings.Fields(token)[1])
	})
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Close)
	return d
}

func refuse(w http.ResponseWriter, status int, code, details string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status":"error","error":{"code":%q,"message":"No.","details":%s}}`, code, details)
}

// admit gives two tokens to somebody.
func (d *door) admit(w http.ResponseWriter, who string) {
	d.tokens++
	access, refresh := fmt.Sprintf("a%d %s", d.tokens, who), fmt.Sprintf("r%d %s", d.tokens, who)
	d.good[access], d.good[refresh] = true, true
	fmt.Fprintf(w, `{"status":"ok","data":{"user":{"email":%q},"access_token":%q,"refresh_token":%q,"session_expires_at":"2030-01-02T03:04:05Z"}}`, who, access, refresh)
}

// expire ends all access tokens.
func (d *door) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for token := range d.good {
		if strings.HasPrefix(token, "a") {
			delete(d.good, token)
		}
	}
}

// who asks the server whom it takes an account for.
func (d *door) who(t *testing.T, a remote.Account) (who string, err error) {
	t.Helper()
	s, err := remote.SignIn(t.Context(), d.URL, a)
	if err == nil {
		err = s.Get(t.Context(), "/v1/who", nil, &who)
	}
	return who, err
}

// Requirements: AUTH-02, AUTH-03
func TestASignInIsKeptAndRenewed(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	kept := remote.Sessions{File: filepath.Join(t.TempDir(), "deep", "sessions.json")}
	if _, err := d.who(t, remote.Account{Kept: kept}); err == nil || !strings.Contains(err.Error(), "liminald login --url "+d.URL) {
		t.Errorf("nobody is signed in: %v", err)
	}
	session, err := remote.LogIn(t.Context(), d.URL+"/", remote.Try{User: "ada@example.org", Password: "right"})
	if err != nil || session.User != "ada@example.org" || session.Expires.Year() != 2030 {
		t.Fatalf("%+v, %v", session, err)
	}
	if err := kept.Keep(d.URL+"/", session); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{kept.File, filepath.Dir(kept.File)} {
		if i, err := os.Stat(file); err != nil || i.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v, %v", file, i.Mode(), err)
		}
	}
	for range 3 {
		if who, err := d.who(t, remote.Account{Kept: kept}); err != nil || who != "ada@example.org" {
			t.Errorf("taken for %q, %v", who, err)
		}
		d.expire()
	}
	if d.logins != 1 {
		t.Errorf("%d sign-ins", d.logins)
	}

	// Several at once are renewed by one trade: another would end the session.
	d.expire()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if who, err := d.who(t, remote.Account{Kept: kept}); err != nil || who != "ada@example.org" {
				t.Errorf("together: taken for %q, %v", who, err)
			}
		})
	}
	all.Wait()

	d.mu.Lock()
	clear(d.good) // the server has ended it
	d.mu.Unlock()
	if _, err := d.who(t, remote.Account{Kept: kept}); !errors.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after its end: %v", err)
	}
	if _, there, err := kept.Of(d.URL); there || err != nil {
		t.Errorf("it is kept all the same: %v", err)
	}
}

// Settings sign in once too, and never make a person somebody else.
func TestSettingsSignInApart(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	kept := remote.Sessions{File: filepath.Join(t.TempDir(), "sessions.json")}
	session, err := remote.LogIn(t.Context(), d.URL, remote.Try{User: "ada@example.org", Password: "right"})
	if err = errors.Join(err, kept.Keep(d.URL, session)); err != nil {
		t.Fatal(err)
	}
	script := remote.Account{User: "Bob@example.org", Password: "right", Kept: kept}
	for range 3 {
		if who, err := d.who(t, script); err != nil || who != "Bob@example.org" {
			t.Errorf("the script is %q, %v", who, err)
		}
		if who, err := d.who(t, remote.Account{Kept: kept}); err != nil || who != "ada@example.org" {
			t.Errorf("the person is %q, %v", who, err)
		}
	}
	if d.logins != 2 {
		t.Errorf("%d sign-ins", d.logins)
	}
	d.mu.Lock()
	clear(d.good)
	d.mu.Unlock()
	if who, err := d.who(t, script); err != nil || who != "Bob@example.org" || d.logins != 3 {
		t.Errorf("its session ended, and it is %q, %v after %d sign-ins", who, err, d.logins)
	}
	if list, err := kept.Forget(d.URL); err != nil || len(list) != 2 {
		t.Errorf("forgotten: %+v, %v", list, err)
	}
	if err := remote.LogOut(t.Context(), d.URL, session); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeKeptOrRenewedSaysSo(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := "/dev/null" // below which there is no folder, for root either
	var said error
	a := remote.Account{
		User: "ada@example.org", Password: "right", Unkept: func(err error) { said = err },
		Kept: remote.Sessions{File: filepath.Join(closed, "liminal", "sessions.json")},
	}
	if who, err := d.who(t, a); err != nil || who != "ada@example.org" || said == nil || !strings.Contains(said.Error(), "cannot be kept") {
		t.Errorf("taken for %q, %v, told %v", who, err, said)
	}
	if _, err := d.who(t, remote.Account{Kept: remote.Sessions{File: blocked}}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := d.who(t, remote.Account{Token: "old"}); err == nil || !strings.Contains(err.Error(), "LIMINAL_TOKEN") {
		t.Errorf("a token that ran out: %v", err)
	}
	if _, err := d.who(t, remote.Account{User: "two@example.org", Password: "right"}); err == nil || !strings.Contains(err.Error(), "authenticator") {
		t.Errorf("a second factor: %v", err)
	}
	_, err := remote.LogIn(t.Context(), d.URL, remote.Try{User: "two@example.org", Password: "right"})
	if !remote.FactorNeeded(err) {
		t.Errorf("a second factor is needed: %v", err)
	}
	if _, err = remote.LogIn(t.Context(), d.URL, remote.Try{User: "two@example.org", Password: "right", Code: "123456"}); err != nil {
		t.Errorf("with it: %v", err)
	}
}
