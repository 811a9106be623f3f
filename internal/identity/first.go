package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"strings"

	"liminal/internal/fault"
)

// wordBytes of a setup word are 80 bits, in 16 characters.
const wordBytes = 10

// SetupWord is what whoever makes the first account of a store is asked for. It
// is made of a secret of the store, so that all processes of an installation
// print the same one and know it again after a restart.
func SetupWord(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("setup word"))
	word := strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil)[:wordBytes]))
	return strings.Join([]string{word[:4], word[4:8], word[8:12], word[12:]}, "-")
}

// SameWord compares a setup word with what somebody typed, in a time that does
// not tell how much of it is right. No word is never the same.
func SameWord(word, typed string) bool {
	strip := strings.NewReplacer("-", "", " ", "")
	word, typed = strip.Replace(word), strip.Replace(strings.ToLower(typed))
	return word != "" && subtle.ConstantTimeCompare([]byte(word), []byte(typed)) == 1
}

// Welcomes refuses a stranger while nobody is here yet: whoever is first
// administers the installation.
func (a *Accounts) Welcomes(ctx context.Context, stranger bool) error {
	if !stranger {
		return nil
	}
	door, err := a.Door(ctx)
	if err == nil && door.FirstRun {
		err = errStranger()
	}
	return err
}

// keeps takes back an account that must not have been made: a stranger's that
// became the first, because the last one there was has gone just now, or one
// that is not the first where no others are made.
func (a *Accounts) keeps(ctx context.Context, u User, stranger bool) error {
	switch {
	case stranger && u.Role == RoleAdmin:
		return errors.Join(errStranger(), a.unmake(ctx, u.ID))
	case a.o.SignUpClosed && u.Role != RoleAdmin: // somebody else was first, just now
		return errors.Join(errClosed(), a.unmake(ctx, u.ID))
	}
	return nil
}

func errStranger() error {
	return fault.New(fault.Forbidden, "Nobody has an account here yet, and the first one administers this server. Give the setup word that the program printed when it started.").
		With(map[string]any{"reason": "setup_word", "field": "setup_word"})
}
