package identity

import (
	"context"
	"errors"

	"liminal/internal/fault"
)

// Users pages through accounts, for administrators.
func (a *Accounts) Users(ctx context.Context, v Viewer, f UserFilter) ([]User, string, error) {
	if !v.IsAdmin() {
		return nil, "", fault.New(fault.Forbidden, "Only an administrator sees everybody's accounts.")
	}
	return a.people.ListUsers(ctx, f)
}

// ChangeUser changes an account's role, plan or activity, for administrators.
// It counts at once, in the sessions there are as well (AUTH-21), and its person
// is told by mail. Others are refused before the account is looked for.
func (a *Accounts) ChangeUser(ctx context.Context, v Viewer, userID string, c UserChange) (User, error) {
	if !v.IsAdmin() {
		return User{}, fault.New(fault.Forbidden, "Only an administrator changes accounts.")
	}
	if c.Role != nil && *c.Role != RoleUser && *c.Role != RolePower && *c.Role != RoleAdmin {
		return User{}, fault.New(fault.Invalid, "The role must be user, power or admin.").With(map[string]any{"field": "role"})
	}
	c = UserChange{Role: c.Role, Plan: c.Plan, Active: c.Active, Budget: c.Budget, Limits: c.Limits, By: v.UserID}
	if a.o.Administration == nil {
		return a.change(ctx, userID, c)
	}
	u, entry, err := a.o.Administration.ChangeAccount(ctx, userID, c)
	if err != nil {
		return User{}, err
	}
	a.tellChange(ctx, entry)
	return u, a.refreshSessions(ctx, userID)
}

// KeepOneSession makes each of a viewer's sign-ins end the others, or not
// (AUTH-07).
func (a *Accounts) KeepOneSession(ctx context.Context, v Viewer, single bool) (User, error) {
	return a.change(ctx, v.UserID, UserChange{SingleSession: &single})
}

// change changes an account and makes its sessions know.
func (a *Accounts) change(ctx context.Context, userID string, c UserChange) (User, error) {
	u, err := a.people.ChangeUser(ctx, userID, c)
	if err != nil {
		return User{}, err
	}
	return u, a.refreshSessions(ctx, userID)
}

// DeleteAccount removes a viewer's account with everything that is theirs, by
// their password. What cannot be removed outside the store is logged: the
// account is gone all the same.
func (a *Accounts) DeleteAccount(ctx context.Context, v Viewer, password string) error {
	_, u, err := a.live(ctx, v.SessionID)
	if err != nil {
		return err
	}
	if err := a.provePassword(ctx, u, password, "password"); err != nil {
		return err
	}
	keys, err := a.ListKeys(ctx, v) // what the cache has of them outlives their rows
	if err != nil {
		return err
	}
	ended, err := a.people.DeleteUser(ctx, u.ID)
	if err != nil {
		return err
	}
	err = a.denySessions(ctx, ended)
	for _, k := range keys {
		err = errors.Join(err, a.denyKeys(ctx, []string{k.ID}))
	}
	if a.o.Forget != nil {
		err = errors.Join(err, a.o.Forget(ctx, u.ID))
	}
	if err != nil {
		a.o.Logger.ErrorContext(ctx, "an account is deleted, and something of it is left", "user_id", u.ID, "error", err)
	}
	return nil
}
