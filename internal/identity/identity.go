// Package identity says who is asking: users, their sessions, and the Viewer
// that every store method takes.
//
// It may import fault, id, vault and cache; it knows no database, no HTTP and no
// mail server.
package identity

import (
	"time"
)

// Role is what a user may do beyond their own things (ISO-07).
type Role string

// The roles, weakest first. System is never a person's.
const (
	RoleUser   Role = "user"
	RolePower  Role = "power"
	RoleAdmin  Role = "admin"
	RoleSystem Role = "system"
)

// Viewer is the person (or the system) on whose behalf something happens. It
// is the first argument after ctx of every store method that touches a user's
// data: isolation is in the signature (ISO-01). It is made by the API from a
// session, never from a request body (API-09, INT-30).
type Viewer struct {
	UserID    string `json:"user_id"`
	Role      Role   `json:"role"`
	Plan      string `json:"plan"`
	SessionID string `json:"session_id,omitempty"`
	TenantID  string `json:"tenant_id,omitempty"`
	Locale    string `json:"locale,omitempty"`
	// Grant is what the access key lets its holder do that this acts by; nil: it
	// acts by no key, and may all the person may.
	Grant *Grant `json:"grant,omitempty"`
}

// PlanUnverified is the plan of a viewer whose address has yet to be confirmed,
// whatever their account's is (AUTH-11).
const PlanUnverified = "unverified"

// SystemAccount is the account that the system's own runs belong to: nobody
// signs in as it, and it is in no list of accounts. A question of one of its
// runs is put to the administrators.
const SystemAccount = "00000000-0000-4000-8000-000000000001"

// System is the viewer of sweeps, seeds and reconciliation.
func System() Viewer { return Viewer{Role: RoleSystem} }

// Steward is the system where it needs a name: as the owner of its own runs.
func Steward() Viewer { return Viewer{UserID: SystemAccount, Role: RoleSystem} }

// IsAdmin reports whether v may write global artifacts and approve patches.
func (v Viewer) IsAdmin() bool { return v.Role == RoleAdmin || v.Role == RoleSystem }

// IsSystem reports whether v is the system itself.
func (v Viewer) IsSystem() bool { return v.Role == RoleSystem }

// User is an account.
type User struct {
	ID        string
	Email     string // lower-cased
	Handle    string
	Role      Role
	Plan      string // "free" by default
	Active    bool   // false: cannot sign in nor use tokens (AUTH-21)
	Locale    string
	CreatedAt time.Time

	TenantID      string // "default" unless a sign-up named another (ISO-12)
	Unverified    bool   // asked to confirm its address, and has not: meta.email_verified is false (AUTH-11)
	MFA           bool   // meta.mfa_enabled: a sign-in needs a second factor (AUTH-13)
	SingleSession bool   // meta.single_session: a sign-in ends the others (AUTH-07)

	Budget *Budget // meta.budget: instead of the plan's; nil: the plan's
}

// Budget bounds what a person's model calls use. Zero is no bound.
type Budget struct {
	TokensPerDay int64   `json:"tokens_per_day"` // of all classes, in a day of UTC
	USDPerMonth  float64 `json:"usd_per_month"`  // where the price is known, in a month of UTC
}

// UserChange is what to change of an account; nil leaves a field as it is.
type UserChange struct {
	Role          *Role
	Plan          *string
	Active        *bool
	Unverified    *bool
	MFA           *bool
	SingleSession *bool
	Budget        **Budget // a pointer to nil: back to the plan's

	Limits *map[string]float64 // numbers of their own, all of them; empty: the plan's
	By     string              // the administrator who changes it; it goes into the audit log. Empty: nobody does
}

// Viewer is the viewer a session of u acts as.
func (u User) Viewer(sessionID string) Viewer {
	return Viewer{UserID: u.ID, Role: u.Role, Plan: u.Plan, SessionID: sessionID, TenantID: u.TenantID, Locale: u.Locale}
}

// Credential is a stored password hash and how it was made.
type Credential struct {
	UserID    string
	Hash      string // PHC string
	Algorithm string // "argon2id"
}
