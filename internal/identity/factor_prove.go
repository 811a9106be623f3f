package identity

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"liminal/internal/fault"
)

const (
	// maxWrong is how many wrong codes in a row lock a factor, for lockLife (AUTH-14).
	maxWrong = 5
	lockLife = 5 * time.Minute
	// wrongLife is how long wrong codes are remembered; a right one forgets them.
	wrongLife = 24 * time.Hour
)

// Locked is the details of the RateLimited fault of a locked factor (AUTH-14).
type Locked struct {
	Reason     string `json:"reason"`      // "mfa_locked", or "recovery_locked"
	RetryAfter int    `json:"retry_after"` // seconds, at least 1
}

// prove checks what a person shows of a factor in use, and returns how many
// recovery codes they have then.
func (a *Accounts) prove(ctx context.Context, f Factor, p Proof) (left int, err error) {
	if p.Recovery != "" {
		err = a.guarded(ctx, "recovery", f.UserID, func() (err error) {
			left, err = a.o.Factors.SpendRecovery(ctx, f.UserID, a.vault.recoveryHash(f.UserID, p.Recovery))
			return err
		})
		return left, err
	}
	err = a.proveCode(ctx, f, p.Code, func(step int64) error { return a.o.Factors.SpendStep(ctx, f.UserID, step) })
	return len(f.Recovery), err
}

// proveCode checks a code of the authenticator; accept takes its step, once.
func (a *Accounts) proveCode(ctx context.Context, f Factor, code string, accept func(step int64) error) error {
	code = strings.Join(strings.Fields(code), "")
	if !isCode(code) {
		return fault.New(fault.Invalid, "The code of the authenticator has six digits.").With(map[string]any{"field": "code"})
	}
	secret, err := a.vault.open(f.UserID, f.Sealed)
	if err != nil {
		return err
	}
	return a.guarded(ctx, "mfa", f.UserID, func() error {
		step, ok, err := matchCode(secret, code, a.now())
		switch {
		case err != nil:
			return err
		case !ok:
			return fault.New(fault.Unauthorized, "This code is wrong. Look at the authenticator again, and at the clock of its device.").
				With(map[string]any{"reason": "code_wrong"})
		}
		return accept(step)
	})
}

// guarded runs a check unless wrong ones have locked it. It counts before it
// checks, so that many tries at once are no more than many in a row; and looks
// for the lock once more after it counted, for whoever locks forgets the count.
// A try that could not be checked counts too: else hanging up would be free.
func (a *Accounts) guarded(ctx context.Context, what, userID string, check func() error) error {
	lock, wrong := "auth:"+what+":lock:"+userID, "auth:"+what+":wrong:"+userID
	if err := a.locked(ctx, what, lock); err != nil {
		return err
	}
	n, err := a.o.Cache.Count(ctx, wrong, wrongLife)
	if err != nil {
		return err
	}
	if err := a.locked(ctx, what, lock); err != nil {
		return err
	}
	if n <= maxWrong {
		err := check()
		if err == nil {
			return a.o.Cache.Delete(ctx, wrong)
		}
		if !errors.Is(err, fault.Unauthorized) || n < maxWrong {
			return err
		}
	}
	return a.lock(ctx, what, lock, wrong)
}

// locked is the fault of a lock that holds, for right codes as well.
func (a *Accounts) locked(ctx context.Context, what, lock string) error {
	value, ok, err := a.o.Cache.Get(ctx, lock)
	if err != nil || !ok {
		return err
	}
	until, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return err
	}
	left := time.UnixMilli(until).Sub(a.now())
	if left <= 0 {
		return nil
	}
	return lockedFor(what, left)
}

func (a *Accounts) lock(ctx context.Context, what, lock, wrong string) error {
	until := strconv.FormatInt(a.now().Add(lockLife).UnixMilli(), 10)
	if err := a.o.Cache.Set(ctx, lock, []byte(until), lockLife); err != nil {
		return err
	}
	if err := a.o.Cache.Delete(ctx, wrong); err != nil {
		return err
	}
	return lockedFor(what, lockLife)
}

func lockedFor(what string, left time.Duration) error {
	seconds := max(1, int(math.Ceil(left.Seconds())))
	sentence := "Too many wrong codes. Codes count again in %d seconds; a recovery code works now."
	if what != "mfa" {
		sentence = "Too many wrong recovery codes. They count again in %d seconds."
	}
	return fault.New(fault.RateLimited, sentence, seconds).With(Locked{Reason: what + "_locked", RetryAfter: seconds})
}

func isCode(s string) bool {
	return len(s) == codeDigits && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
