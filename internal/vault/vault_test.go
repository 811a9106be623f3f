package vault_test

import (
	"bytes"
	"errors"
	"testing"

	"liminal/internal/vault"
)

func TestASecretOpensWhereItWasSealedOnly(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, vault.MinKey)
	v, err := vault.New(key, "one use")
	if err != nil {
		t.Fatal(err)
	}
	sealed := v.Seal("office", "sk-secret")
	if bytes.Contains(sealed, []byte("sk-secret")) {
		t.Error("the secret is legible")
	}
	if got, err := v.Open("office", sealed); got != "sk-secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	other, err := vault.New(key, "another use")
	if err != nil {
		t.Fatal(err)
	}
	bent := bytes.Clone(sealed)
	bent[len(bent)-1] ^= 1
	for what, open := range map[string]func() (string, error){
		"another name": func() (string, error) { return v.Open("lab", sealed) },
		"another use":  func() (string, error) { return other.Open("office", sealed) },
		"changed":      func() (string, error) { return v.Open("office", bent) },
		"cut":          func() (string, error) { return v.Open("office", sealed[:5]) },
		"nothing":      func() (string, error) { return v.Open("office", nil) },
	} {
		if got, err := open(); got != "" || !errors.Is(err, vault.ErrForeign) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	if _, err := vault.New(key[:31], "one use"); err == nil {
		t.Error("a short key is taken")
	}
}
