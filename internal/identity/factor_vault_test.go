package identity

import (
	"bytes"
	"encoding/base32"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// noFactors is a store of factors that nothing is asked of.
type noFactors struct{ Factors }

func newTestVault(t *testing.T, key byte) *factorVault {
	t.Helper()
	v, err := newVault(Options{Factors: noFactors{}, FactorKey: bytes.Repeat([]byte{key}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Requirements: AUTH-12
func TestCodesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"} {
		step, ok, err := matchCode(secret, code, time.Unix(at, 0)) // RFC 6238, appendix B
		if err != nil || !ok || step != at/30 {
			t.Errorf("at %d: %d, %v, %v", at, step, ok, err)
		}
	}
	for _, off := range []time.Duration{-time.Minute, time.Minute} {
		if _, ok, _ := matchCode(secret, "005924", time.Unix(1234567890, 0).Add(off)); ok {
			t.Errorf("a code counts %v off", off)
		}
	}
}

// Requirements: AUTH-12
func TestASealedSecretOpensForItsPersonAndKeyOnly(t *testing.T) {
	t.Parallel()
	v := newTestVault(t, 'k')
	sealed := v.seal("ada", "JBSWY3DPEHPK3PXP")
	if bytes.Contains(sealed, []byte("JBSW")) {
		t.Fatalf("sealed: %q", sealed)
	}
	if got, err := v.open("ada", sealed); err != nil || got != "JBSWY3DPEHPK3PXP" {
		t.Errorf("opened: %q, %v", got, err)
	}
	broken := slices.Clone(sealed)
	broken[len(broken)-1] ^= 1
	for name, open := range map[string]func() (string, error){
		"another person": func() (string, error) { return v.open("eve", sealed) },
		"another key":    func() (string, error) { return newTestVault(t, 'x').open("ada", sealed) },
		"changed":        func() (string, error) { return v.open("ada", broken) },
		"nothing":        func() (string, error) { return v.open("ada", nil) },
	} {
		if got, err := open(); err == nil || strings.Contains(err.Error(), "JBSW") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if again := v.seal("ada", "JBSWY3DPEHPK3PXP"); bytes.Equal(again, sealed) {
		t.Error("the same secret is sealed the same way twice")
	}
	if _, err := newVault(Options{Factors: noFactors{}, FactorKey: []byte("short")}); err == nil {
		t.Error("a short key is no error")
	}
}

// Requirements: AUTH-13
func TestRecoveryCodesAreOfOnePersonAndEasyToType(t *testing.T) {
	t.Parallel()
	v := newTestVault(t, 'k')
	codes, hashes := v.newRecovery("ada")
	if len(codes) != recoveryCodes || len(slices.Compact(slices.Sorted(slices.Values(codes)))) != recoveryCodes {
		t.Fatalf("codes = %v", codes)
	}
	form := regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)
	for i, c := range codes {
		typed := " " + strings.ToUpper(strings.ReplaceAll(c, "-", " ")) + " "
		if !form.MatchString(c) || v.recoveryHash("ada", typed) != hashes[i] || v.recoveryHash("eve", c) == hashes[i] || newTestVault(t, 'x').recoveryHash("ada", c) == hashes[i] {
			t.Errorf("code %q, hash %q", c, hashes[i])
		}
	}
}

func TestAnAccountWhoseFactorCannotBeCheckedStaysOut(t *testing.T) {
	t.Parallel()
	a := &Accounts{o: Options{}.withDefaults()}
	if _, err := a.secondFactor(t.Context(), User{ID: "ada", MFA: true}, "", ""); err == nil {
		t.Error("without a store of factors the mark is forgotten")
	}
	if proved, err := a.secondFactor(t.Context(), User{ID: "ada"}, "", ""); proved || err != nil {
		t.Error(proved, err)
	}
}
