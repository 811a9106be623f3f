package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"liminal/internal/fault"
)

// Bounds of a password, in characters.
const (
	MinPassword = 8
	MaxPassword = 256
)

// Cost is how much work one argon2id hash is.
type Cost struct {
	Memory  uint32 // KiB
	Passes  uint32
	Threads uint8
}

// sound is OWASP's second profile for argon2id, about 25 ms on one core.
func sound() Cost { return Cost{Memory: 19 * 1024, Passes: 2, Threads: 1} }

// hasher makes and checks argon2id hashes, a bounded number at a time: signing
// in is the one request a stranger can make that costs real work.
type hasher struct {
	cost  Cost
	slots chan struct{}
	decoy string // a hash nobody's password has, for accounts that do not exist
}

func newHasher(c Cost, atOnce int) (*hasher, error) {
	h := &hasher{cost: c, slots: make(chan struct{}, atOnce)}
	decoy, err := h.hash(context.Background(), rand.Text())
	h.decoy = decoy
	return h, err
}

// hash returns the PHC string of password under a fresh salt.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	key, err := h.derive(ctx, password, salt, h.cost, 32)
	if err != nil {
		return "", err
	}
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		h.cost.Memory, h.cost.Passes, h.cost.Threads, enc.EncodeToString(salt), enc.EncodeToString(key)), nil
}

// matches reports whether password made the PHC string phc. A string it does
// not understand matches nothing, after the same work.
func (h *hasher) matches(ctx context.Context, password, phc string) (bool, error) {
	c, salt, want, ok := parsePHC(phc)
	if !ok {
		c, salt, want, _ = parsePHC(h.decoy)
	}
	got, err := h.derive(ctx, password, salt, c, uint32(len(want)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && ok, nil
}

func (h *hasher) derive(ctx context.Context, password string, salt []byte, c Cost, length uint32) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, c.Threads, length), nil
}

// parsePHC reads "$argon2id$v=19$m=…,t=…,p=…$salt$key". Costs beyond what this
// program would ever write are refused, so that a row cannot exhaust memory.
func parsePHC(phc string) (c Cost, salt, key []byte, ok bool) {
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, false
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.Memory, &c.Passes, &c.Threads); n != 3 || err != nil {
		return c, nil, nil, false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return c, nil, nil, false
	}
	key, err = base64.RawStdEncoding.DecodeString(parts[5])
	sane := c.Memory >= 8 && c.Memory <= 1<<20 && c.Passes >= 1 && c.Passes <= 16 && c.Threads >= 1 &&
		len(salt) >= 8 && len(key) >= 16 && len(key) <= 64
	return c, salt, key, err == nil && sane
}

// checkPassword applies the rules; each refusal says the rule.
func checkPassword(password, email string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return fault.New(fault.Invalid, "The password must be text.")
	case n < MinPassword:
		return fault.New(fault.Invalid, "The password needs at least %d characters.", MinPassword)
	case n > MaxPassword:
		return fault.New(fault.Invalid, "The password may have at most %d characters.", MaxPassword)
	case strings.EqualFold(password, email):
		return fault.New(fault.Invalid, "The password must not be the email address.")
	case strings.Count(password, password[:utf8RuneLen(password)]) == n:
		return fault.New(fault.Invalid, "The password must not be one character over and over.")
	}
	return checkCommon(password, email)
}

func utf8RuneLen(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
