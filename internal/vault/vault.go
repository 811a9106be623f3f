// Package vault seals secrets that are kept in the store: the secrets of
// authenticators, the keys of model backends. Every use has a key of its own,
// made of one that the installation keeps, and what is sealed opens under the
// name it was sealed for and no other.
//
// It imports the standard library only.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
)

// MinKey is the length the installation's key has at least, in bytes.
const MinKey = 32

// Vault seals for one use. It is safe for concurrent use.
type Vault struct{ aead cipher.AEAD }

// ErrForeign says that something does not open here: it was sealed with another
// key, for another name, or was changed since.
var ErrForeign = errors.New("vault: this does not open with this installation's key")

// New makes the vault of a use of key. It fails for a key that is too short.
func New(key []byte, use string) (*Vault, error) {
	derived, err := Derive(key, use)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Vault{aead: aead}, err
}

// Derive makes a key of 32 bytes for a use of key.
func Derive(key []byte, use string) ([]byte, error) {
	if len(key) < MinKey {
		return nil, errors.New("vault: the key needs at least 32 bytes")
	}
	return hkdf.Key(sha256.New, key, nil, use, 32)
}

// Seal encrypts a secret so that it opens for this name only. The same secret
// is never sealed alike twice.
func (v *Vault) Seal(name, secret string) []byte {
	return v.aead.Seal(nil, nil, []byte(secret), []byte(name)) // the nonce is random and in front
}

// Open gives a secret back, or ErrForeign.
func (v *Vault) Open(name string, sealed []byte) (string, error) {
	secret, err := v.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return "", ErrForeign
	}
	return string(secret), nil
}
