package vault

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Ring seals with the first of some keys and opens with any of them, so that a key can
// be changed: the new one is put first, and the old one stays as long as something is
// sealed with it.
type Ring struct{ keys []ringKey }

type ringKey struct {
	id    string
	vault *Vault
}

// UnknownKey says that something is sealed with a key that is not there.
type UnknownKey struct{ ID string }

func (e *UnknownKey) Error() string {
	return fmt.Sprintf("it is encrypted with the key %q, which is not among the keys", e.ID)
}

// NamedKey reads one key as people write it: id:base64, of 32 bytes.
func NamedKey(text string) (id string, secret []byte, err error) {
	id, encoded, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || id == "" {
		return "", nil, errors.New("is not id:base64")
	}
	if secret, err = base64.StdEncoding.DecodeString(encoded); err != nil {
		return "", nil, errors.New("is not base64 after its id")
	}
	if len(secret) != MinKey {
		return id, nil, fmt.Errorf("has %d bytes; it needs %d (openssl rand -base64 %d)", len(secret), MinKey, MinKey)
	}
	return id, secret, nil
}

// longestID bounds the id of a key, in bytes.
const longestID = 64

// NewRing makes the ring of a use of keys as id:base64[,id:base64]; nil for none.
func NewRing(keys, use string) (*Ring, error) {
	if strings.TrimSpace(keys) == "" {
		return nil, nil
	}
	r := &Ring{}
	for i, text := range strings.Split(keys, ",") {
		id, secret, err := NamedKey(text)
		if err == nil && len(id) > longestID {
			err = fmt.Errorf("has an id of more than %d bytes", longestID)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d %w", i+1, err)
		}
		if slices.ContainsFunc(r.keys, func(k ringKey) bool { return k.id == id }) {
			return nil, fmt.Errorf("key %d has the id %s of an earlier one", i+1, id)
		}
		v, err := New(secret, use)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, ringKey{id, v})
	}
	return r, nil
}

// sealedForm is the first byte of what a ring sealed.
const sealedForm = 1

// Seal encrypts b with the first key, for this name.
func (r *Ring) Seal(name string, b []byte) []byte {
	k := r.keys[0]
	head := append([]byte{sealedForm, byte(len(k.id))}, k.id...)
	return append(head, k.vault.aead.Seal(nil, nil, b, []byte(name))...)
}

// Sealed reports whether b may be what a ring sealed.
func Sealed(b []byte) bool { return len(b) > 0 && b[0] == sealedForm }

// First reports whether b is sealed with the first key.
func (r *Ring) First(b []byte) bool {
	id, _, ok := sealedBy(b)
	return ok && id == r.keys[0].id
}

func sealedBy(b []byte) (id string, sealed []byte, ok bool) {
	if len(b) < 2 || b[0] != sealedForm || len(b) < 2+int(b[1]) {
		return "", nil, false
	}
	return string(b[2 : 2+b[1]]), b[2+b[1]:], true
}

// Open gives back what was sealed for this name: *UnknownKey where its key is not
// there, which a nil ring has none of, ErrForeign where it was changed.
func (r *Ring) Open(name string, b []byte) ([]byte, error) {
	id, sealed, ok := sealedBy(b)
	if !ok {
		return nil, ErrForeign
	}
	if r != nil {
		for _, k := range r.keys {
			if k.id != id {
				continue
			}
			out, err := k.vault.aead.Open(nil, nil, sealed, []byte(name))
			if err != nil {
				return nil, ErrForeign
			}
			return out, nil
		}
	}
	return nil, &UnknownKey{id}
}
