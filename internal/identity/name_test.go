package identity

import (
	"errors"
	"strings"
	"testing"

	"liminal/internal/fault"
)

// Requirements: AUTH-01
func TestAnAddressThatPassesForAnothersIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, email := range map[string]string{
		"a zero width space at the end": "name@example.com\u200b",
		"a zero width space":            "na\u200bme@example.com",
		"a joiner":                      "na\u200dme@example.com",
		"a word joiner":                 "na\u2060me@example.com",
		"a mark of byte order":          "\ufeffname@example.com",
		"a soft hyphen":                 "na\u00adme@example.com",
		"a dotless i":                   "m\u0131ke@example.com",
		"a dotted I":                    "M\u0130ke@example.com",
		"a Cyrillic a":                  "n\u0430me@example.com",
		"Cyrillic alone":                "\u0440\u0430\u0443@example.com",
		"a Greek o":                     "b\u03bfb@example.com",
		"wide letters":                  "\uff4e\uff41\uff4d\uff45@example.com",
		"a wide @":                      "name\uff20example.com",
		"a ligature":                    "o\ufb03ce@example.com",
		"a Kelvin sign":                 "\u212aate@example.com",
		"a long s":                      "\u017fam@example.com",
		"an override of direction":      "\u202ename@example.com",
		"an isolate":                    "\u2066name\u2069@example.com",
		"a variation":                   "name\ufe0f@example.com",
		"a mark on a letter":            "na\u0301me@example.com",
		"a tag":                         "name\U000e0061@example.com",
		"a Cyrillic domain":             "name@ex\u0430mple.com",
		"a wide dot":                    "name@example\uff0ecom",
		"a filler":                      "na\u3164me@example.com",
		"a control":                     "na\x7fme@example.com",
		"a NUL":                         "name\x00@example.com",
	} {
		if _, err := b.SignUp(t.Context(), NewAccount{Email: email, Password: "correct horse"}, Device{}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s (%q): %v", name, email, err)
		}
	}
	for _, email := range []string{"name@example.com", "NAME+tag@Example.org", "o'neil@example.org", "name@xn--mnchen-3ya.de"} {
		if in, err := b.SignUp(t.Context(), NewAccount{Email: email, Password: "correct horse"}, Device{}); err != nil || in.User.Email != strings.ToLower(email) {
			t.Errorf("%s became %q, %v", email, in.User.Email, err)
		}
	}
	_, err := newEmail("Name@M\u00fcnchen.de")
	if f := fault.From(err); !strings.Contains(f.Message, "name@xn--mnchen-3ya.de") {
		t.Errorf("a domain of other letters is told: %v", err)
	}
}

// Requirements: AUTH-02
func TestAnAccountWithAnAddressOfBeforeStillSignsIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, email := range []string{"m\u0131ke@example.com", "j\u00fcrgen@m\u00fcnchen.de"} {
		hash, err := b.hasher.hash(t.Context(), "correct horse")
		if err != nil {
			t.Fatal(err)
		}
		u := User{ID: "0190a6ae-7f7e-7000-8000-00000000000" + map[bool]string{true: "1", false: "2"}[email[0] == 'm'], Email: email, Role: RoleUser, Active: true, TenantID: "default"}
		if _, err := b.store.CreateUser(t.Context(), u, Credential{UserID: u.ID, Hash: hash, Algorithm: "argon2id"}); err != nil {
			t.Fatal(err)
		}
		if in, err := b.LogIn(t.Context(), SignInTry{Email: email, Password: "correct horse"}, Device{}); err != nil || in.User.ID != u.ID {
			t.Errorf("%s: %v", email, err)
		}
	}
}

func TestANameOthersSeeHasNoInvisibleLetters(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"Ad\u200bmin", "Admin\u202e", "\u2066Admin", "Ad\u00admin", "Admin\x00", "Ad\u3164min", "\xff", strings.Repeat("x", 65)} {
		if got, err := normalHandle(bad, "ada@example.org"); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
	for given, want := range map[string]string{"": "ada", "  Ada   Lovelace ": "Ada Lovelace", "\uff21\uff44\uff41": "Ada", "J\u00fcrgen": "J\u00fcrgen", "Ju\u0308rgen": "J\u00fcrgen", "\u5c71\u7530": "\u5c71\u7530"} {
		if got, err := normalHandle(given, "ada@example.org"); err != nil || got != want {
			t.Errorf("%q became %q, %v", given, got, err)
		}
	}
}
