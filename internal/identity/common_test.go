package identity

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/fault"
)

// Requirements: AUTH-01
func TestWhatIsGuessedFirstIsNoPassword(t *testing.T) {
	t.Parallel()
	for _, password := range []string{
		"password", "PassWord", "Password1", "password2024!", "12345678", "123456789012", "qwertzuiop", "Passwort123",
		"iloveyou!", "correcthorsebatterystaple", "Liminal123", "ｐａｓｓｗｏｒｄ", "theodolinde", "Theodolinde1972", "лЮбовь123",
	} {
		err := checkPassword(password, "theodolinde@example.org")
		if !errors.Is(err, fault.Invalid) || fault.Reason(err) != "common_password" {
			t.Errorf("%s: %v", password, err)
		}
	}
	for _, password := range []string{
		"correct horse", "password of the stable", "12345678 horses", "baseball and tea", "xkcd-9f2k-11", "theodolinde stands here",
	} {
		if err := checkPassword(password, "theodolinde@example.org"); err != nil {
			t.Errorf("%s: %v", password, err)
		}
	}
	if err := checkPassword("ann-2024-09", "ann@example.org"); err != nil {
		t.Errorf("a short name says nothing: %v", err)
	}
}

// Only what can be a password belongs on the list, as it is looked up.
func TestTheListOfPasswordsIsOfPasswords(t *testing.T) {
	t.Parallel()
	if n := len(common()); n < 5000 {
		t.Errorf("it has %d", n)
	}
	for password := range common() {
		if n := utf8.RuneCountInString(password); n < MinPassword || n > MaxPassword || password != strings.ToLower(password) || strings.ContainsAny(password, " \t") {
			t.Errorf("%q cannot be one", password)
		}
	}
}
