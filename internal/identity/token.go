package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"liminal/internal/fault"
	"liminal/internal/id"
)

const issuer = "liminal"

// claims is what an access token says. Role and plan are not in it: they come
// with the session, from the cache or the store, on every request, so that a
// change counts at once.
type claims struct {
	Session string `json:"sid"`
	jwt.RegisteredClaims
}

// mint signs and reads access tokens.
type mint struct {
	key    []byte
	life   time.Duration
	now    func() time.Time
	parser *jwt.Parser
}

func newMint(key []byte, life time.Duration, now func() time.Time) *mint {
	return &mint{key: key, life: life, now: now, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer),
		jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(now))}
}

func (m *mint) sign(userID, sessionID string) (string, error) {
	now := m.now()
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims{Session: sessionID, RegisteredClaims: jwt.RegisteredClaims{
		Issuer: issuer, Subject: userID, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(m.life)),
	}}).SignedString(m.key)
}

// read returns whose token it is and of which session.
func (m *mint) read(token string) (userID, sessionID string, err error) {
	if strings.ContainsAny(token, "\r\n") { // which base64 leaves out
		return "", "", fault.New(fault.Unauthorized, "This access token is not valid. Sign in again.")
	}
	var c claims
	_, err = m.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return m.key, nil })
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return "", "", fault.Wrap(fault.Unauthorized, err, "This sign-in has run out. Refresh it, or sign in again.")
	case err != nil:
		return "", "", fault.Wrap(fault.Unauthorized, err, "This access token is not valid. Sign in again.")
	case !id.Valid(c.Subject) || !id.Valid(c.Session):
		return "", "", fault.New(fault.Unauthorized, "This access token is not valid. Sign in again.")
	}
	return c.Subject, c.Session, nil
}

// sealLength is the length of the seal at the end of a refresh token.
const sealLength = 32

// newRefresh returns a refresh token of a session: its id, so that the row is
// found, 256 random bits, of which the row keeps only a hash, and a seal that
// shows that it was made here. Who knows the id of a session knows no token of
// it, and can end nothing with one they made up.
func (m *mint) newRefresh(sessionID string) string {
	token := sessionID + "." + rand.Text() + rand.Text()
	return token + m.seal(token)
}

// made reports whether a refresh token was made here, at whatever time. Those
// of before there were seals were not.
func (m *mint) made(token string) bool {
	at := len(token) - sealLength
	return at > 0 && hmac.Equal([]byte(m.seal(token[:at])), []byte(token[at:]))
}

func (m *mint) seal(text string) string {
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte("refresh\x00" + text))
	return strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))[:sealLength]
}

// splitRefresh returns the session a refresh token claims to be of.
func splitRefresh(token string) (sessionID string, ok bool) {
	sessionID, secret, found := strings.Cut(token, ".")
	return sessionID, found && secret != "" && id.Valid(sessionID)
}

func hashRefresh(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
