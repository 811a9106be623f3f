package oauth

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Requirements: AUTH-16
func TestTheFileNamesTheProviders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "oauth.json")
	need(t, os.WriteFile(path, []byte(`[
		{"name":"google","kind":"oidc","label":"Google","issuer":"https://accounts.google.com","client_id":"a","client_secret":"b"},
		{"name":"github","kind":"github","client_id":"c","client_secret":"d"},
		{"name":"oidc:acme","kind":"oidc","issuer":"http://127.0.0.1:9/x","client_id":"e","client_secret":"f","scopes":["openid","email"]}
	]`), 0o600))
	got, err := Read(path)
	need(t, err)
	want := []Client{
		{Name: "google", Kind: "oidc", Label: "Google", Issuer: "https://accounts.google.com", ID: "a", Secret: "b", Scopes: []string{"openid", "profile", "email"}},
		{Name: "github", Kind: "github", Label: "github", Issuer: "https://github.com", API: "https://api.github.com", ID: "c", Secret: "d", Scopes: []string{"user:email"}},
		{Name: "oidc:acme", Kind: "oidc", Label: "oidc:acme", Issuer: "http://127.0.0.1:9/x", ID: "e", Secret: "f", Scopes: []string{"openid", "email"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", got, got, got, slog.AnyValue(got[0].Secret).Resolve()); strings.Contains(shown, `"b"`) || !strings.Contains(shown, "[secret]") {
		t.Errorf("secrets are shown: %s", shown)
	}
}

// Requirements: AUTH-16
func TestAllMistakesOfTheFileAreToldAtOnceWithoutSecrets(t *testing.T) {
	t.Parallel()
	_, err := parse([]byte(`[
		{"name":"Google","kind":"oidc","issuer":"http://accounts.google.com","client_secret":"hush-1","surprise":1},
		{"name":"github","kind":"git","client_id":"a","client_secret":["hush-2"]},
		{"name":"github","kind":"oidc","issuer":"https://u:hush-3@x.org","client_id":"a","client_secret":"hush-4","scopes":["email"],"api":"https://x.org"}
	]`))
	text := fmt.Sprint(err)
	for _, want := range []string{
		"providers[0].name must be", "providers[0].issuer must begin with https://", "providers[0].client_id is missing", "providers[0].surprise is not a field",
		"providers[1].kind must be oidc or github", "providers[1].client_secret must be a text",
		"providers[2].name is the name of another", "providers[2].issuer must be an address", "providers[2].scopes must contain openid", "providers[2].api is of GitHub",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
	if strings.Contains(text, "hush") || strings.Count(text, "\n") < 9 {
		t.Errorf("got %s", text)
	}
	for _, broken := range []string{"", "{}", `[1]`, `[{"client_secret":"hush-5"`} {
		if _, err := parse([]byte(broken)); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", broken, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("no file is no error")
	}
}
