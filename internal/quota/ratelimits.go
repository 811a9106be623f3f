package quota

import (
	"context"
	"math"
	"time"

	"liminal/internal/fault"
)

// Rule is a token bucket: Burst at once, refilled over Per.
type Rule struct {
	Name  string
	Burst int
	Per   time.Duration
}

// SignIn is the rule against guessing one password, by address and account. It
// and SignInByAddress bound what is tried within minutes; what fails for longer
// is throttled by identity.Accounts.LogIn.
func SignIn() Rule { return Rule{Name: "auth.signin", Burst: 10, Per: 5 * time.Minute} }

// SignInByAddress is the rule against trying many accounts, by address.
func SignInByAddress() Rule { return Rule{Name: "auth.address", Burst: 100, Per: 5 * time.Minute} }

// SignUp is the rule against making accounts by the thousand, by address.
func SignUp() Rule { return Rule{Name: "auth.signup", Burst: 100, Per: time.Hour} }

// ClientRegistrations is the rule against registering programs by the thousand that
// sign people in, by address.
func ClientRegistrations() Rule { return Rule{Name: "oauth.register", Burst: 20, Per: time.Hour} }

// Faults is the rule against callers that fail again and again, by person and
// address: each answer that is an error spends one (SAFE-10).
func Faults() Rule { return Rule{Name: "faults", Burst: 300, Per: 5 * time.Minute} }

// Exceeded is the details of a RateLimited fault.
type Exceeded struct {
	Rule       string `json:"rule"`
	RetryAfter int    `json:"retry_after"` // seconds, at least 1
}

// Limits spends from a ledger by rules.
type Limits struct{ ledger Ledger }

// NewLimits returns limits over a ledger.
func NewLimits(l Ledger) *Limits { return &Limits{ledger: l} }

// Spend takes one token of who's bucket. When there is none it returns
// fault.RateLimited with Exceeded as details (API-16).
func (l *Limits) Spend(ctx context.Context, r Rule, who string) error {
	wait, err := l.ledger.Take(ctx, r.Name+":"+who, float64(r.Burst)/r.Per.Seconds(), r.Burst)
	if err != nil || wait <= 0 {
		return err
	}
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	return fault.New(fault.RateLimited, "Too many requests. Try again in %d seconds.", seconds).
		With(Exceeded{Rule: r.Name, RetryAfter: seconds})
}

// Hold takes one of max places of who. When all are taken it returns
// fault.Conflict with the reason "busy" (C-10).
func (l *Limits) Hold(ctx context.Context, what, who string, max int) (release func(), err error) {
	release, ok, err := l.ledger.Acquire(ctx, what+":"+who, max)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.Conflict, "busy: %d of yours are open already. Close one, or wait until one ends.", max).
			With(map[string]any{"reason": "busy", "what": what, "max": max})
	}
	return release, nil
}
