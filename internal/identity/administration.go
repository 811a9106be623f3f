package identity

import (
	"context"
	"errors"
	"time"

	"liminal/internal/fault"
)

// Administration is the part of a store that only administrators reach: what
// is told of people's accounts, what is done to them, and the log of it. Each
// act and its entry in the log are one transaction.
type Administration interface {
	// PeopleFigures tells of accounts, by id; one that does not exist has no
	// figures.
	PeopleFigures(ctx context.Context, ids []string) (map[string]Figures, error)
	// ChangeAccount is People.ChangeUser that also returns the entry it wrote, as
	// it was given: without an id, a time and the addresses. It is empty when c
	// changed nothing, or nobody did it.
	ChangeAccount(ctx context.Context, id string, c UserChange) (User, AuditEvent, error)
	// EndUserSessions ends all sign-ins of a user and returns the ids of the
	// sessions that ended; NotFound if there is no such account.
	EndUserSessions(ctx context.Context, by, userID string) (ended []string, err error)
	// ClearFactor forgets a user's second factor and the mark; a Conflict when
	// there is none.
	ClearFactor(ctx context.Context, by, userID string) error
	// ListAudit pages through the log, the newest first.
	ListAudit(ctx context.Context, f AuditFilter) ([]AuditEvent, string, error)
}

// Figures are what is told of an account beside its row.
type Figures struct {
	LastSeen     time.Time // when it was used last, to half an hour; zero: never
	SignIns      int       // that are open
	Today, Month Spent     // of UTC
	StoredBytes  int64
	Files        int
	Limits       map[string]float64 // numbers of their own, instead of their plan's
}

// Spent is what model calls used.
type Spent struct {
	Calls   int64
	Input   int64 // tokens, with those read from and written to a cache
	Output  int64 // tokens
	CostUSD float64
}

// Add returns the sum.
func (s Spent) Add(o Spent) Spent {
	return Spent{Calls: s.Calls + o.Calls, Input: s.Input + o.Input, Output: s.Output + o.Output, CostUSD: s.CostUSD + o.CostUSD}
}

// What an entry of the audit log says was done. The words are stored.
const (
	UserChanged   = "user.changed"
	UserSignedOut = "user.signed_out"
	FactorCleared = "user.factor_cleared"
	PlanChanged   = "plan.changed"
)

// AuditEvent is an entry of the audit log: what an administrator did.
type AuditEvent struct {
	ID                int64
	At                time.Time
	By, ByEmail       string // the administrator; no email: they have gone
	What              string
	UserID, UserEmail string // whose account, if one's
	Plan              string // which plan, if one
	Was, Became       map[string]any
}

// AuditFilter is a page of the log.
type AuditFilter struct {
	UserID string // entries about this account; empty: all
	Cursor string
	Limit  int
}

// administration is the store's part for an administrator; others are
// Forbidden before anything is looked for.
func (a *Accounts) administration(v Viewer) (Administration, error) {
	if !v.IsAdmin() {
		return nil, fault.New(fault.Forbidden, "Only an administrator looks after accounts.")
	}
	if a.o.Administration == nil {
		return nil, fault.New(fault.Conflict, "This server keeps no log of what administrators do, so they can do nothing here.")
	}
	return a.o.Administration, nil
}

// UserOf returns any account, for administrators.
func (a *Accounts) UserOf(ctx context.Context, v Viewer, userID string) (User, error) {
	if _, err := a.administration(v); err != nil {
		return User{}, err
	}
	if userID == SystemAccount {
		return User{}, fault.New(fault.NotFound, "There is no such account.")
	}
	u, _, err := a.people.User(ctx, userID)
	return u, err
}

// Figures tells of accounts, for administrators.
func (a *Accounts) Figures(ctx context.Context, v Viewer, ids []string) (map[string]Figures, error) {
	s, err := a.administration(v)
	if err != nil {
		return nil, err
	}
	return s.PeopleFigures(ctx, ids)
}

// SignOutUser ends every sign-in of an account and every access key, for
// administrators: its tokens and keys stop with the next request, its streams
// and sockets with their next beat, half a minute later at most. It returns how
// many sessions there were. Whose some ended is told by mail.
func (a *Accounts) SignOutUser(ctx context.Context, v Viewer, userID string) (int, error) {
	s, err := a.administration(v)
	if err != nil {
		return 0, err
	}
	ended, err := s.EndUserSessions(ctx, v.UserID, userID)
	if err != nil {
		return 0, err
	}
	if len(ended) > 0 {
		a.tellChange(ctx, AuditEvent{By: v.UserID, UserID: userID, What: UserSignedOut})
	}
	return len(ended), errors.Join(a.denySessions(ctx, ended), a.revokeKeys(ctx, v.UserID, userID))
}

// ClearFactor takes the second factor off an account, for administrators: for
// somebody who has lost both their authenticator and their recovery codes.
// Their own they give up with a code, as everybody does: a session alone must
// not be enough to take it off. Its person is told by mail.
func (a *Accounts) ClearFactor(ctx context.Context, v Viewer, userID string) error {
	s, err := a.administration(v)
	if err != nil {
		return err
	}
	if userID == v.UserID {
		return fault.New(fault.Conflict, "Your own second factor is given up in your settings, with a code.").With(map[string]any{"reason": "own_factor"})
	}
	if err := s.ClearFactor(ctx, v.UserID, userID); err != nil {
		return err
	}
	a.tellChange(ctx, AuditEvent{By: v.UserID, UserID: userID, What: FactorCleared})
	return a.refreshSessions(ctx, userID)
}

// Audit pages through the log of what administrators did, for administrators.
func (a *Accounts) Audit(ctx context.Context, v Viewer, f AuditFilter) ([]AuditEvent, string, error) {
	s, err := a.administration(v)
	if err != nil {
		return nil, "", err
	}
	return s.ListAudit(ctx, f)
}
