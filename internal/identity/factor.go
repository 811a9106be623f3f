package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
)

// Factor is the second thing a person proves at sign-in: an authenticator
// that makes one-time codes (RFC 6238), and recovery codes for the day it is
// lost (AUTH-12, AUTH-13).
type Factor struct {
	UserID    string
	Sealed    []byte    // the secret, encrypted for this person
	LastStep  int64     // of the newest code that counted; it and older ones count no more
	Recovery  []string  // hashes of the recovery codes that are left
	CreatedAt time.Time // when the secret was made
	EnabledAt time.Time // zero until a first code was right
}

// Factors keeps second factors, one a person. Its methods run for a person
// whose first factor was right; only this package calls them.
type Factors interface {
	// Factor returns a person's factor; NotFound if they have none.
	Factor(ctx context.Context, userID string) (Factor, error)
	// DraftFactor keeps a factor that is not in use yet, over an older draft.
	// It is a Conflict when one is in use.
	DraftFactor(ctx context.Context, f Factor) error
	// EnableFactor puts a draft to use, marks the account (User.MFA) and ends
	// all of its sessions, at once: none of them has proved the factor
	// (AUTH-13). It returns the ids of the sessions that ended, and is a
	// Conflict when there is no draft.
	EnableFactor(ctx context.Context, userID string, step int64, recovery []string) (ended []string, err error)
	// SpendStep makes codes up to step count no more; Unauthorized when one of
	// step or later counted already.
	SpendStep(ctx context.Context, userID string, step int64) error
	// SpendRecovery removes the hash of a recovery code and says how many are
	// left; Unauthorized when it is not there.
	SpendRecovery(ctx context.Context, userID, hash string) (left int, err error)
	// ReplaceRecovery makes the recovery codes others.
	ReplaceRecovery(ctx context.Context, userID string, hashes []string) error
	// DropFactor forgets the factor and the mark; none is no error.
	DropFactor(ctx context.Context, userID string) error
}

// Proof is what a person shows of their second factor: one of the two.
type Proof struct {
	Code     string // six digits of the authenticator
	Recovery string // a recovery code; good once
}

func (p Proof) empty() bool { return p.Code == "" && p.Recovery == "" }

// FactorNeeded is the details of the Unauthorized fault of a sign-in whose
// first factor was right and whose second is missing (AUTH-15).
type FactorNeeded struct {
	Reason    string `json:"reason"`     // "mfa_required"
	Ticket    string `json:"ticket"`     // stands for the first factor in ProveTicket, once
	ExpiresIn int    `json:"expires_in"` // seconds
}

// ticketLife is how long a person may look for their authenticator.
const ticketLife = 5 * time.Minute

// secondFactor checks what an account asks for beside its password, and says
// whether it was anything. Without a code it hands out a ticket, so that nobody
// needs to keep the password.
func (a *Accounts) secondFactor(ctx context.Context, u User, code, recovery string) (proved bool, err error) {
	f, err := a.factorOf(ctx, u)
	if err != nil || f.EnabledAt.IsZero() {
		return false, err
	}
	proof := Proof{Code: code, Recovery: recovery}
	if proof.empty() {
		return false, a.askFactor(ctx, ticket{UserID: u.ID})
	}
	_, err = a.prove(ctx, f, proof)
	return err == nil, err
}

// ticket is a sign-in that waits for its second factor.
type ticket struct {
	UserID string    `json:"user_id"`
	Link   *External `json:"link,omitempty"` // to make when it is shown
}

// askFactor is the fault that asks for the second factor, with its ticket.
func (a *Accounts) askFactor(ctx context.Context, t ticket) error {
	kept, err := json.Marshal(t)
	if err != nil {
		return err
	}
	name := rand.Text() + rand.Text()
	if err := a.o.Cache.Set(ctx, ticketKey(name), kept, ticketLife); err != nil {
		return err
	}
	return fault.New(fault.Unauthorized, "This account asks for a code of its authenticator too.").
		With(FactorNeeded{Reason: "mfa_required", Ticket: name, ExpiresIn: int(ticketLife.Seconds())})
}

// factorOf returns the factor of a person, empty when they have none.
func (a *Accounts) factorOf(ctx context.Context, u User) (Factor, error) {
	if a.o.Factors == nil {
		if u.MFA {
			return Factor{}, errors.New("identity: an account has a second factor, and there is no store of factors")
		}
		return Factor{}, nil
	}
	f, err := a.o.Factors.Factor(ctx, u.ID)
	if errors.Is(err, fault.NotFound) {
		return Factor{}, nil
	}
	return f, err
}

func ticketKey(name string) string { return "auth:mfa:ticket:" + hashRefresh(name) }

func errTicket() error {
	return fault.New(fault.Unauthorized, "This sign-in has waited too long for its code. Sign in again.").
		With(map[string]any{"reason": "ticket_unknown"})
}

// Proved is a session opened by a second factor.
type Proved struct {
	SignIn
	RecoveryCodes []string // new ones, told this once; nil when they stay as they were
	RecoveryLeft  int      // recovery codes that are left
}

// ProveTicket opens the session that a sign-in without a code asked for
// (AUTH-13). A wrong code leaves the ticket; a right one uses it up.
func (a *Accounts) ProveTicket(ctx context.Context, name string, p Proof, d Device) (Proved, error) {
	kept, ok, err := a.o.Cache.Get(ctx, ticketKey(name))
	if err != nil {
		return Proved{}, err
	}
	var t ticket
	if !ok || json.Unmarshal(kept, &t) != nil {
		return Proved{}, errTicket()
	}
	u, f, err := a.ticketOwner(ctx, t)
	if err != nil {
		return Proved{}, err
	}
	left, err := a.prove(ctx, f, p)
	if err != nil {
		return Proved{}, err
	}
	if _, ok, err := a.o.Cache.Take(ctx, ticketKey(name)); err != nil || !ok {
		return Proved{}, cmp.Or(err, errTicket())
	}
	if t.Link != nil {
		if err := a.o.Providers.LinkProvider(ctx, u.ID, *t.Link); err != nil {
			return Proved{}, err
		}
	}
	in, err := a.open(ctx, u, d, Proofs{Factor: true})
	return Proved{SignIn: in, RecoveryLeft: left}, err
}

// ticketOwner is whom a ticket lets in, as they are now.
func (a *Accounts) ticketOwner(ctx context.Context, t ticket) (User, Factor, error) {
	u, _, err := a.people.User(ctx, t.UserID)
	if err == nil {
		err = a.admits(u)
	}
	if err != nil {
		return User{}, Factor{}, err
	}
	f, err := a.factorOf(ctx, u)
	if err == nil && f.EnabledAt.IsZero() {
		err = errTicket()
	}
	return u, f, err
}
