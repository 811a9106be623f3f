package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"liminal/internal/id"
)

// An access key is lim_{id}_{secret}_{checksum}: the id of its row in hex, 43
// random characters, and the CRC-32 of what stands before it. A program that
// looks for secrets in files knows one by that sum, offline.
const (
	keyPrefix      = "lim_"
	keySecretChars = 43 // of 62: more than 256 bits
	keySumChars    = 6
	digits62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// IsKey reports whether a credential looks like an access key rather than like
// the token of a session.
func IsKey(credential string) bool { return strings.HasPrefix(credential, keyPrefix) }

// newKeyText makes the text of a key and the hash that is kept of it.
func newKeyText(keyID string) (text, hash string) {
	body := keyPrefix + strings.ReplaceAll(keyID, "-", "") + "_" + random62(keySecretChars)
	text = body + "_" + keySum(body)
	return text, hashKey(text)
}

// random62 are n random digits.
func random62(n int) string {
	out := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for len(out) < n {
		_, _ = rand.Read(buf) // never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte: each digit is as likely.
			if b < 248 && len(out) < n {
				out = append(out, digits62[b%62])
			}
		}
	}
	return string(out)
}

func keySum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	var sum [keySumChars]byte
	for i := keySumChars - 1; i >= 0; i-- {
		sum[i], n = digits62[n%62], n/62
	}
	return string(sum[:])
}

func hashKey(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// readKeyText returns the id of the row that a text claims to be the key of. A
// text that is mistyped or made up carelessly is told apart by its sum, and
// costs no look into the store.
func readKeyText(text string) (keyID string, ok bool) {
	body, sum, found := cutLast(text, "_")
	rest, prefixed := strings.CutPrefix(body, keyPrefix)
	name, secret, parted := strings.Cut(rest, "_")
	if !found || !prefixed || !parted || len(name) != 32 || len(secret) != keySecretChars || keySum(body) != sum {
		return "", false
	}
	keyID = name[:8] + "-" + name[8:12] + "-" + name[12:16] + "-" + name[16:20] + "-" + name[20:]
	return keyID, id.Valid(keyID) && strings.ToLower(keyID) == keyID
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// newSecretText makes the text of a code or a refresh token of a key and the hash
// that is kept of it.
func newSecretText(prefix string) (text, hash string) {
	body := prefix + random62(keySecretChars)
	text = body + "_" + keySum(body)
	return text, hashKey(text)
}

// readSecretText is the hash of a text that may be such a one.
func readSecretText(prefix, text string) (hash string, ok bool) {
	body, sum, found := cutLast(text, "_")
	if !found || !strings.HasPrefix(body, prefix) || len(body) != len(prefix)+keySecretChars || keySum(body) != sum {
		return "", false
	}
	return hashKey(text), true
}

// isKeyOf compares in a time that tells nothing.
func isKeyOf(text, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashKey(text)), []byte(hash)) == 1
}
