package identity

import (
	"context"
	"errors"

	"liminal/internal/fault"
)

// Enrolment is what an authenticator needs to know. It is told once: no later
// answer holds the secret.
type Enrolment struct {
	Secret string // base32
	URI    string // otpauth://
	QR     []byte // of URI; PNG
}

// FactorState says how an account stands.
type FactorState struct {
	Enabled      bool
	RecoveryLeft int
}

// FactorState returns the state of a viewer's own factor.
func (a *Accounts) FactorState(ctx context.Context, v Viewer) (FactorState, error) {
	u, err := a.Who(ctx, v)
	if err != nil {
		return FactorState{}, err
	}
	f, err := a.factorOf(ctx, u)
	return FactorState{Enabled: !f.EnabledAt.IsZero(), RecoveryLeft: len(f.Recovery)}, err
}

// EnrolFactor makes a secret for a viewer (AUTH-12). It counts once
// ProveSession got a code made from it; until then a new one replaces it.
func (a *Accounts) EnrolFactor(ctx context.Context, v Viewer) (Enrolment, error) {
	u, err := a.keeper(ctx, v)
	if err != nil {
		return Enrolment{}, err
	}
	if a.o.Factors == nil {
		return Enrolment{}, fault.New(fault.Conflict, "This server keeps no second factors.")
	}
	e, err := newEnrolment(u.Email)
	if err != nil {
		return Enrolment{}, err
	}
	return e, a.o.Factors.DraftFactor(ctx, Factor{UserID: u.ID, Sealed: a.vault.seal(u.ID, e.Secret), CreatedAt: a.now()})
}

// ProveSession shows a code in a session and gets a new one for it (AUTH-13).
// The first code puts the factor to use: every session there was ends, for
// none has proved it, and the recovery codes are told.
func (a *Accounts) ProveSession(ctx context.Context, v Viewer, p Proof, d Device) (Proved, error) {
	u, err := a.Who(ctx, v)
	if err != nil {
		return Proved{}, err
	}
	f, err := a.factorOf(ctx, u)
	switch {
	case err != nil:
		return Proved{}, err
	case f.UserID == "":
		return Proved{}, fault.New(fault.Conflict, "There is no second factor to prove. Enable one first.")
	case f.EnabledAt.IsZero():
		return a.enable(ctx, u, f, p, d)
	}
	left, err := a.prove(ctx, f, p)
	if err != nil {
		return Proved{}, err
	}
	if err := a.endSession(ctx, v.SessionID); err != nil {
		return Proved{}, err
	}
	in, err := a.open(ctx, u, d, Proofs{Factor: true})
	return Proved{SignIn: in, RecoveryLeft: left}, err
}

// enable puts a draft to use.
func (a *Accounts) enable(ctx context.Context, u User, f Factor, p Proof, d Device) (Proved, error) {
	codes, hashes := a.vault.newRecovery(u.ID)
	var ended []string
	err := a.proveCode(ctx, f, p.Code, func(step int64) (err error) {
		ended, err = a.o.Factors.EnableFactor(ctx, u.ID, step, hashes)
		return err
	})
	if err != nil {
		return Proved{}, stays(err)
	}
	if err := a.denySessions(ctx, ended); err != nil {
		return Proved{}, err
	}
	u.MFA = true
	in, err := a.open(ctx, u, d, Proofs{Factor: true})
	return Proved{SignIn: in, RecoveryCodes: codes, RecoveryLeft: len(codes)}, err
}

// RenewRecovery replaces a viewer's recovery codes and tells them; the old
// ones count no more.
func (a *Accounts) RenewRecovery(ctx context.Context, v Viewer, p Proof) ([]string, error) {
	u, f, err := a.enabled(ctx, v)
	if err != nil {
		return nil, err
	}
	if _, err := a.prove(ctx, f, p); err != nil {
		return nil, stays(err)
	}
	codes, hashes := a.vault.newRecovery(u.ID)
	return codes, a.o.Factors.ReplaceRecovery(ctx, u.ID, hashes)
}

// DisableFactor forgets a viewer's factor. It takes both factors, so that an
// open session is not enough; an account without a password shows the second
// only.
func (a *Accounts) DisableFactor(ctx context.Context, v Viewer, password string, p Proof) error {
	u, f, err := a.enabled(ctx, v)
	if err != nil {
		return err
	}
	err = a.provePassword(ctx, u, password, "password")
	if err != nil && !errors.Is(err, fault.Conflict) { // a Conflict: it has none
		return err
	}
	if _, err := a.prove(ctx, f, p); err != nil {
		return stays(err)
	}
	return errors.Join(a.o.Factors.DropFactor(ctx, u.ID), a.refreshSessions(ctx, u.ID))
}

// enabled returns the factor in use of a viewer; without one it is a Conflict.
func (a *Accounts) enabled(ctx context.Context, v Viewer) (User, Factor, error) {
	u, err := a.Who(ctx, v)
	if err != nil {
		return User{}, Factor{}, err
	}
	f, err := a.factorOf(ctx, u)
	if err == nil && f.EnabledAt.IsZero() {
		err = fault.New(fault.Conflict, "This account has no second factor.")
	}
	return u, f, err
}

// stays makes what a person in a session showed wrong Invalid: Unauthorized
// would say that the session is no good.
func stays(err error) error {
	if f := fault.From(err); f.Code == fault.Unauthorized {
		return fault.Wrap(fault.Invalid, err, "%s", f.Message).With(f.Details)
	}
	return err
}
