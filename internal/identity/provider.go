package identity

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// External is a person as a provider knows them, who has proved it to us
// (AUTH-16).
type External struct {
	Provider      string // "google", "github", "oidc:acme"
	UID           string // the provider's own id of the person, which never changes
	Email         string // "" when the provider gave none
	EmailVerified bool   // the provider says that the address is theirs
	Handle        string
	Locale        string // "de-DE"; "" when unknown
	Tenant        string // asked for by the person; empty: whichever the account is in (ISO-12)
	Stranger      bool   // has not shown that the first account is theirs to make
}

// Link is an account somewhere else that signs in to one here.
type Link struct {
	Provider string
	Email    string // as the provider said when it was linked; "" when it did not
	LinkedAt time.Time
}

// Providers keeps which accounts are whose elsewhere. Its methods run before
// there is a viewer; only this package calls them.
type Providers interface {
	// LinkedUser returns the account of (provider, uid); NotFound if there is none.
	LinkedUser(ctx context.Context, provider, uid string) (userID string, err error)
	// LinkProvider gives an account to (provider, uid). Doing so twice is no
	// error; it is a Conflict when it is another account's.
	LinkProvider(ctx context.Context, userID string, e External) error
	// CreateLinked stores a new account without a password, and its link, as
	// CreateUser does. A known email is a Conflict.
	CreateLinked(ctx context.Context, u User, e External) (User, error)
	// Links returns an account's links, the oldest first.
	Links(ctx context.Context, userID string) ([]Link, error)
	// Unlink takes a provider from an account; NotFound when it has none of it.
	// The last way in stays: a Conflict when there is no password either.
	Unlink(ctx context.Context, userID, provider string) error
	// EmailProven reports whether an account has shown that its address is its
	// own (meta.email_verified).
	EmailProven(ctx context.Context, userID string) (bool, error)
}

// LogInElsewhere opens a session for somebody whom a provider has vouched for:
// into the account that is linked, or one whose proven address is theirs, or
// a new one (AUTH-16). The second factor is asked for all the same. Where
// addresses are confirmed, one that the provider has not verified opens
// nothing, and the answer does not tell whether it has an account.
func (a *Accounts) LogInElsewhere(ctx context.Context, e External, d Device) (SignIn, error) {
	u, link, err := a.vouched(ctx, e)
	if err == nil {
		err = a.admits(u)
	}
	if err != nil {
		return SignIn{}, err
	}
	f, err := a.factorOf(ctx, u)
	switch {
	case err != nil:
		return SignIn{}, err
	case !f.EnabledAt.IsZero():
		return SignIn{}, a.askFactor(ctx, ticket{UserID: u.ID, Link: link})
	case link != nil:
		if err := a.o.Providers.LinkProvider(ctx, u.ID, *link); err != nil {
			return SignIn{}, err
		}
	}
	return a.open(ctx, u, d, Proofs{})
}

// Link gives a viewer's own account to somebody a provider has vouched for.
func (a *Accounts) Link(ctx context.Context, v Viewer, e External) error {
	u, err := a.keeper(ctx, v) // the session may have ended meanwhile
	if err != nil {
		return err
	}
	if a.o.Providers == nil {
		return errNoProviders()
	}
	return a.o.Providers.LinkProvider(ctx, u.ID, e)
}

// Links returns a viewer's own links.
func (a *Accounts) Links(ctx context.Context, v Viewer) ([]Link, error) {
	if a.o.Providers == nil {
		return nil, nil
	}
	return a.o.Providers.Links(ctx, v.UserID)
}

// Unlink takes a provider from a viewer's own account.
func (a *Accounts) Unlink(ctx context.Context, v Viewer, provider string) error {
	if a.o.Providers == nil {
		return errNoProviders()
	}
	return a.o.Providers.Unlink(ctx, v.UserID, provider)
}

// vouched finds or makes the account of e. link is what is still to be linked
// to it, once all proofs are there.
func (a *Accounts) vouched(ctx context.Context, e External) (u User, link *External, err error) {
	if a.o.Providers == nil {
		return User{}, nil, errNoProviders()
	}
	if u, err = a.linked(ctx, e); !errors.Is(err, fault.NotFound) {
		return u, nil, err
	}
	if e.Email, err = NormalEmail(e.Email); err != nil {
		return User{}, nil, fault.New(fault.Invalid, "The provider gave no email address, and an account needs one. Allow it there, or sign up with a password.").
			With(map[string]any{"reason": "email_missing"})
	}
	if a.o.Confirm && !e.EmailVerified { // whether there is an account or not
		return User{}, nil, fault.New(fault.Conflict, "The provider has not verified your email address. Verify it there, or sign up with a password and link the provider then.").
			With(map[string]any{"reason": "email_unverified"})
	}
	u, _, err = a.people.UserByEmail(ctx, e.Email)
	if errors.Is(err, fault.NotFound) {
		u, err = a.createLinked(ctx, e)
		return u, nil, err
	}
	if err == nil {
		err = a.adoptable(ctx, u, e)
	}
	return u, &e, err
}

// linked is the account that is linked already.
func (a *Accounts) linked(ctx context.Context, e External) (User, error) {
	userID, err := a.o.Providers.LinkedUser(ctx, e.Provider, e.UID)
	if err != nil {
		return User{}, err
	}
	u, _, err := a.people.User(ctx, userID)
	if err == nil && e.Tenant != "" && e.Tenant != u.TenantID {
		err = errElsewhere()
	}
	return u, err
}

// adoptable says why e may not have the account of its address, if it may not.
// Both sides must have proved the address: else whoever claims one first, here
// or there, would get the other's account.
func (a *Accounts) adoptable(ctx context.Context, u User, e External) error {
	proven, err := a.o.Providers.EmailProven(ctx, u.ID)
	switch {
	case err != nil:
		return err
	case !proven || !e.EmailVerified:
		return fault.New(fault.Conflict, "There is an account with this email address already. Sign in to it with its password first, and link the provider there.").
			With(map[string]any{"reason": "link_needed", "field": "email"})
	case e.Tenant != "" && e.Tenant != u.TenantID:
		return errElsewhere()
	}
	return nil
}

// createLinked makes an account, as SignUp does. When another callback of the
// same person was faster, theirs is used.
func (a *Accounts) createLinked(ctx context.Context, e External) (User, error) {
	if err := cmp.Or(a.Welcomes(ctx, e.Stranger), a.mayJoin(ctx)); err != nil {
		return User{}, err
	}
	u, err := a.draftLinked(e)
	if err != nil {
		return User{}, err
	}
	made, err := a.o.Providers.CreateLinked(ctx, u, e)
	if errors.Is(err, fault.Conflict) {
		if u, err := a.linked(ctx, e); err == nil {
			return u, nil
		}
	}
	if err != nil {
		return User{}, err
	}
	return made, a.keeps(ctx, made, e.Stranger)
}

func (a *Accounts) draftLinked(e External) (User, error) {
	handle, err := normalHandle(e.Handle, e.Email)
	if err != nil { // theirs may be anything
		if handle, err = normalHandle("", e.Email); err != nil {
			return User{}, err
		}
	}
	if _, err := newEmail(e.Email); err != nil {
		return User{}, err
	}
	tenant, err := a.tenant(e.Tenant)
	if err != nil {
		return User{}, err
	}
	locale := "en"
	if strings.HasPrefix(strings.ToLower(e.Locale), "de") {
		locale = "de"
	}
	return User{
		ID: id.New(), Email: e.Email, Handle: handle, Role: RoleUser, Plan: a.o.Plan, Active: true,
		Locale: locale, CreatedAt: a.now(), TenantID: tenant,
	}, nil
}

func errInactive() error {
	return fault.New(fault.Unauthorized, "This account is not active. Ask whoever runs this server.")
}

func errElsewhere() error {
	return fault.New(fault.Unauthorized, "This account is of another tenant.").With(map[string]any{"field": "tenant_id"})
}

func errNoProviders() error {
	return fault.New(fault.Conflict, "This server links no accounts of elsewhere.")
}
