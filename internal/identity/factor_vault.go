package identity

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"liminal/internal/vault"
)

const (
	codeDigits    = 6
	codePeriod    = 30 // seconds a code stands
	codeSkew      = 1  // steps to either side that count: clocks differ
	recoveryCodes = 10
	qrPixels      = 256
)

// factorVault seals the secrets of authenticators and hashes recovery codes, with
// keys of its own for each.
type factorVault struct {
	sealed   *vault.Vault
	recovery []byte
}

// newVault derives the keys from one. Without a store of factors there is
// nothing to seal, and no vault.
func newVault(o Options) (*factorVault, error) {
	if o.Factors == nil {
		return nil, nil
	}
	key := o.FactorKey
	if len(key) < vault.MinKey {
		return nil, errors.New("identity: the key of second factors needs at least 32 bytes")
	}
	sealed, err := vault.New(key, "liminal factor secrets")
	if err != nil {
		return nil, err
	}
	recovery, err := vault.Derive(key, "liminal recovery codes")
	return &factorVault{sealed: sealed, recovery: recovery}, err
}

// seal encrypts a secret so that it opens for this person only.
func (v *factorVault) seal(userID, secret string) []byte { return v.sealed.Seal(userID, secret) }

func (v *factorVault) open(userID string, sealed []byte) (string, error) {
	secret, err := v.sealed.Open(userID, sealed)
	if err != nil {
		return "", fmt.Errorf("identity: the second factor of %s does not open with this server's key: %w", userID, err)
	}
	return secret, nil
}

// newRecovery makes recovery codes of 80 random bits and their hashes.
func (v *factorVault) newRecovery(userID string) (codes, hashes []string) {
	for range recoveryCodes {
		r := strings.ToLower(rand.Text())
		code := r[0:4] + "-" + r[4:8] + "-" + r[8:12] + "-" + r[12:16]
		codes, hashes = append(codes, code), append(hashes, v.recoveryHash(userID, code))
	}
	return codes, hashes
}

// recoveryHash is the form in which a recovery code is kept and looked for;
// hyphens, blanks and capitals do not matter.
func (v *factorVault) recoveryHash(userID, code string) string {
	code = strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(code)))
	mac := hmac.New(sha256.New, v.recovery)
	mac.Write([]byte(userID + "\x00" + code))
	return hex.EncodeToString(mac.Sum(nil))
}

// newEnrolment makes a secret of 160 bits, as RFC 4226 advises.
func newEnrolment(email string) (Enrolment, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: "Liminal", AccountName: email, SecretSize: 20, Period: codePeriod,
		Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1, // what every authenticator knows
	})
	if err != nil {
		return Enrolment{}, err
	}
	img, err := key.Image(qrPixels, qrPixels)
	if err != nil {
		return Enrolment{}, err
	}
	var qr bytes.Buffer
	err = png.Encode(&qr, img)
	return Enrolment{Secret: key.Secret(), URI: key.URL(), QR: qr.Bytes()}, err
}

// matchCode returns the step that code is of, at a time. It compares with all
// steps that count, in constant time.
func matchCode(secret, code string, now time.Time) (step int64, ok bool, err error) {
	opts := totp.ValidateOpts{Period: codePeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}
	current := now.Unix() / codePeriod
	for s := current - codeSkew; s <= current+codeSkew; s++ {
		want, err := totp.GenerateCodeCustom(secret, time.Unix(s*codePeriod, 0), opts)
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = s, true
		}
	}
	return step, ok, nil
}
