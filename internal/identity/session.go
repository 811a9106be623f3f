package identity

import "time"

// The kinds of client a session is opened by (AUTH-18).
const (
	Web    = "web"
	Mobile = "mobile"
)

// Session is one id of one sign-in. A sign-in keeps its family and changes its
// id with every day of use; each id has one refresh token at a time (AUTH-17).
type Session struct {
	ID          string
	UserID      string
	FamilyID    string    // what all ids of one sign-in have in common: the first id
	Client      string    // Web or Mobile
	SignedInAt  time.Time // when the family began
	RefreshHash string    // sha256 of the current refresh token, hex
	UserAgent   string
	Address     string
	CreatedAt   time.Time // when this id began
	UsedAt      time.Time // when it was opened or refreshed last
	ExpiresAt   time.Time
	RevokedAt   time.Time // zero while it lives

	Proofs // of a session that is being opened; not kept
}

// Proofs are what a sign-in has shown. While it is under way they may be
// overtaken: by another password, or by a second factor it was not asked for.
type Proofs struct {
	Password string // the stored hash that was right; empty: the sign-in did not need one
	Factor   bool   // a second factor was right
}

// Rotation trades one refresh token for the next.
type Rotation struct {
	ID      string // the session the token is of
	UserID  string // whose it is
	OldHash string // of the token as it was presented
	NewID   string // ID, or the id that takes its place
	NewHash string
	Expires time.Time     // when the session ends now
	Grace   time.Duration // how long ID stays good when NewID takes its place
	Forged  bool          // the token was not made here: unless it is the current one it ends nothing
	// Tolerance is how soon after its trade a token may come again without
	// ending the family. It gets nothing then either.
	Tolerance time.Duration
}
