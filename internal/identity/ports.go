package identity

import "context"

// Store keeps accounts and sessions. Its methods run before there is a viewer
// or on the account itself, so they take none; only this package calls them.
type Store interface {
	People
	Sessions
	Choices
}

// People keeps accounts.
type People interface {
	// CreateUser stores u with its credential. The first account of an empty
	// store becomes an administrator, atomically, and needs no confirming. A
	// known email is a Conflict.
	CreateUser(ctx context.Context, u User, c Credential) (User, error)
	// User finds an account with its credential; NotFound if there is none.
	User(ctx context.Context, id string) (User, Credential, error)
	// UserByEmail finds an account for signing in; NotFound if there is none.
	UserByEmail(ctx context.Context, email string) (User, Credential, error)
	// ChangeUser changes an account. Taking the last active administrator's role
	// or switching them off is a Conflict. A change with By is written to the
	// audit log in the same transaction.
	ChangeUser(ctx context.Context, id string, c UserChange) (User, error)
	// ListUsers pages through accounts in the order they were made.
	ListUsers(ctx context.Context, f UserFilter) ([]User, string, error)
	// DeleteUser removes an account and everything that is its own, artifacts
	// and clusters included (DATA-01), and returns the ids of the sessions that
	// ended. The last active administrator stays while there are others: a
	// Conflict.
	DeleteUser(ctx context.Context, id string) (ended []string, err error)
	// SetPassword replaces the credential of c.UserID and, in the same
	// transaction, ends all sessions but those of the family but. It returns the
	// ids that ended (AUTH-09).
	SetPassword(ctx context.Context, c Credential, but string) (ended []string, err error)
}

// Sessions keeps sign-ins.
type Sessions interface {
	// OpenSession stores a new session, unless its proofs have been overtaken:
	// Unauthorized.
	OpenSession(ctx context.Context, s Session) error
	// Session returns a session with its user, revoked or not; NotFound if unknown.
	Session(ctx context.Context, id string) (Session, User, error)
	// ListSessions returns a user's open sessions, the latest used first. Those
	// without a RefreshHash are ids in their grace: another took their place.
	ListSessions(ctx context.Context, userID string) ([]Session, error)
	// RotateSession trades a token. A token that is not the current one ends its
	// family: Unauthorized, with the ids that ended. Within the tolerance of its
	// own trade it is a Conflict, and nothing ends (AUTH-03, AUTH-17).
	RotateSession(ctx context.Context, r Rotation) (ended []string, err error)
	// RevokeSession ends the family of a session, and returns the ids that
	// ended; ending it twice is no error.
	RevokeSession(ctx context.Context, id string) (ended []string, err error)
	// RevokeSessions ends a user's sessions but those of the family but, which
	// may be empty.
	RevokeSessions(ctx context.Context, userID, but string) (ended []string, err error)
}

// Choices keeps what people set for themselves.
type Choices interface {
	// Settings returns a user's settings; zero ones when there are none.
	Settings(ctx context.Context, userID string) (Settings, error)
	// ChangeSettings changes them and returns them whole.
	ChangeSettings(ctx context.Context, userID string, c SettingsChange) (Settings, error)
}

// UserFilter is a page of accounts.
type UserFilter struct {
	Tenant string // empty: all
	Email  string // empty: all; else the account of this email
	Search string // part of an email or a name; empty: all
	Role   Role   // empty: all
	Plan   string // empty: all
	State  string // "active" or "suspended"; empty: all
	Cursor string
	Limit  int
}
