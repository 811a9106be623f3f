package identity

import (
	"context"
	"errors"
	"log/slog"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/id"
)

// Options says how long sign-ins last and how much work a password is.
type Options struct {
	Key     []byte           // signs access tokens; at least 32 bytes, from the store's secrets
	Access  time.Duration    // life of an access token; 30 minutes when zero (AUTH-04)
	Refresh time.Duration    // life of a refresh token; 7 days when zero (AUTH-04)
	Hashes  int              // password hashes at once; 2 when zero
	Now     func() time.Time // time.Now when nil
	Cost    Cost             // of one hash; OWASP's advice when zero

	Cache        cache.Cache // mirrors of sessions, one-time tickets, counters of failures; nil: nothing is kept
	Mail         Mail        // nil: no mail is sent
	Confirm      bool        // new accounts must confirm their address (AUTH-11); needs Mail
	Tenants      []string    // there are; the first is the default. Empty: "default" only (ISO-12)
	SignUpClosed bool        // only the first account can be made
	PublicURL    string      // of the links in mails, without a trailing slash
	Logger       *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Access == 0 {
		o.Access = 30 * time.Minute
	}
	if o.Refresh == 0 {
		o.Refresh = 7 * 24 * time.Hour
	}
	if o.Hashes == 0 {
		o.Hashes = 2
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cost == (Cost{}) {
		o.Cost = sound()
	}
	if o.Cache == nil {
		o.Cache = nowhere{}
	}
	if len(o.Tenants) == 0 {
		o.Tenants = []string{"default"}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Accounts signs people up and in, and says who a token belongs to.
type Accounts struct {
	o      Options
	store  Store
	mint   *mint
	hasher *hasher
	now    func() time.Time
	life   time.Duration // of a refresh token
}

// NewAccounts returns accounts over a store.
func NewAccounts(store Store, o Options) (*Accounts, error) {
	o = o.withDefaults()
	if len(o.Key) < 32 {
		return nil, errors.New("identity: the key of access tokens needs at least 32 bytes")
	}
	h, err := newHasher(o.Cost, o.Hashes)
	if err != nil {
		return nil, err
	}
	return &Accounts{o: o, store: store, mint: newMint(o.Key, o.Access, o.Now), hasher: h, now: o.Now, life: o.Refresh}, nil
}

// Device is where a sign-in comes from.
type Device struct {
	UserAgent string
	Address   string
}

// NewAccount is what a person fills in to sign up.
type NewAccount struct {
	Email    string
	Password string
	Handle   string // empty: the part of the email before the @
	Locale   string // "en" or "de"; empty: "en"
}

// SignIn is an open session and the tokens to use it.
type SignIn struct {
	User      User
	SessionID string
	Access    string
	Refresh   string
	ExpiresAt time.Time // when the session ends unless it is refreshed (API-19)
}

// SignUp creates an account and signs it in (AUTH-01). The first account of
// a store administers it. A known email is a Conflict.
func (a *Accounts) SignUp(ctx context.Context, n NewAccount, d Device) (SignIn, error) {
	u, err := a.draft(n)
	if err != nil {
		return SignIn{}, err
	}
	hash, err := a.hasher.hash(ctx, n.Password)
	if err != nil {
		return SignIn{}, err
	}
	u, err = a.store.CreateUser(ctx, u, Credential{UserID: u.ID, Hash: hash, Algorithm: "argon2id"})
	if err != nil {
		return SignIn{}, err
	}
	return a.open(ctx, u, d)
}

func (a *Accounts) draft(n NewAccount) (User, error) {
	email, err := NormalEmail(n.Email)
	if err != nil {
		return User{}, err
	}
	if err := checkPassword(n.Password, email); err != nil {
		return User{}, err
	}
	handle, err := normalHandle(n.Handle, email)
	if err != nil {
		return User{}, err
	}
	locale := "en"
	if n.Locale == "de" {
		locale = "de"
	}
	return User{
		ID: id.New(), Email: email, Handle: handle, Role: RoleUser, Plan: "free", Active: true,
		Locale: locale, CreatedAt: a.now(),
	}, nil
}

// SignInTry is what a person gives to sign in.
type SignInTry struct {
	Email    string
	Password string
	Code     string // of the authenticator, when the account has one (AUTH-15)
	Recovery string // a recovery code instead of Code (AUTH-13)
	Tenant   string // empty: whichever the account is in (ISO-12)
}

// LogIn opens a session (AUTH-02). A wrong password, an unknown email, an
// inactive account and a wrong tenant get the same words after the same work;
// the second factor is asked for only after the first was right (AUTH-15).
func (a *Accounts) LogIn(ctx context.Context, try SignInTry, d Device) (SignIn, error) {
	u, c, err := a.find(ctx, try.Email)
	if err != nil {
		return SignIn{}, err
	}
	ok, err := a.hasher.matches(ctx, try.Password, c.Hash)
	if err != nil {
		return SignIn{}, err
	}
	if !ok || !u.Active || utf8.RuneCountInString(try.Password) > MaxPassword {
		return SignIn{}, fault.New(fault.Unauthorized, "The email or the password is wrong.")
	}
	if err := a.secondFactor(ctx, u, try.Code, try.Recovery); err != nil {
		return SignIn{}, err
	}
	return a.open(ctx, u, d)
}

// find returns the account of an email; an unknown one gets no account and
// the decoy's hash.
func (a *Accounts) find(ctx context.Context, email string) (User, Credential, error) {
	normal, err := NormalEmail(email)
	if err != nil {
		return User{}, Credential{Hash: a.hasher.decoy}, nil
	}
	u, c, err := a.store.UserByEmail(ctx, normal)
	if errors.Is(err, fault.NotFound) {
		return User{}, Credential{Hash: a.hasher.decoy}, nil
	}
	return u, c, err
}

func (a *Accounts) open(ctx context.Context, u User, d Device) (SignIn, error) {
	now := a.now()
	s := Session{
		ID: id.New(), UserID: u.ID, UserAgent: clip(d.UserAgent, 400), Address: clip(d.Address, 64),
		CreatedAt: now, ExpiresAt: now.Add(a.life),
	}
	refresh := newRefresh(s.ID)
	s.RefreshHash = hashRefresh(refresh)
	if err := a.store.OpenSession(ctx, s); err != nil {
		return SignIn{}, err
	}
	return a.signIn(u, s.ID, refresh, s.ExpiresAt)
}

func (a *Accounts) signIn(u User, sessionID, refresh string, expires time.Time) (SignIn, error) {
	access, err := a.mint.sign(u.ID, sessionID)
	return SignIn{User: u, SessionID: sessionID, Access: access, Refresh: refresh, ExpiresAt: expires}, err
}

// Refresh trades a refresh token for new tokens (AUTH-03). A token that was
// traded before ends its session: one of the two who used it stole it.
func (a *Accounts) Refresh(ctx context.Context, token string) (SignIn, error) {
	sessionID, ok := splitRefresh(token)
	if !ok {
		return SignIn{}, errSignedOut()
	}
	_, u, err := a.live(ctx, sessionID)
	if err != nil {
		return SignIn{}, err
	}
	next, expires := newRefresh(sessionID), a.now().Add(a.life)
	if err := a.store.RotateSession(ctx, sessionID, hashRefresh(token), hashRefresh(next), expires); err != nil {
		return SignIn{}, err
	}
	return a.signIn(u, sessionID, next, expires)
}

// LogOut ends the sessions of an access token and a refresh token; either may
// be empty. Both stop working with the next request (AUTH-05). Tokens that
// are unknown, old or forged are no error: nobody is signed in by them.
func (a *Accounts) LogOut(ctx context.Context, access, refresh string) error {
	if sessionID, ok := splitRefresh(refresh); ok {
		if err := a.end(ctx, sessionID, refresh); err != nil {
			return err
		}
	}
	_, sessionID, err := a.mint.read(access)
	if err != nil {
		return nil
	}
	return a.store.RevokeSession(ctx, sessionID)
}

// end revokes the session a refresh token is of. Rotating it proves that the
// token is the current one; an old one revokes the session by that alone.
func (a *Accounts) end(ctx context.Context, sessionID, refresh string) error {
	err := a.store.RotateSession(ctx, sessionID, hashRefresh(refresh), hashRefresh(newRefresh(sessionID)), a.now())
	switch {
	case errors.Is(err, fault.Unauthorized), errors.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	}
	return a.store.RevokeSession(ctx, sessionID)
}

// Authenticate says who bearer is. Every call reads the session, so that a
// logout and a deactivated account count at once (AUTH-05, AUTH-21).
func (a *Accounts) Authenticate(ctx context.Context, bearer string) (Viewer, error) {
	u, s, err := a.whose(ctx, bearer)
	if err != nil {
		return Viewer{}, err
	}
	return u.Viewer(s.ID), nil
}

// Who returns the account of a viewer's session.
func (a *Accounts) Who(ctx context.Context, v Viewer) (User, error) {
	_, u, err := a.live(ctx, v.SessionID)
	return u, err
}

func (a *Accounts) whose(ctx context.Context, bearer string) (User, Session, error) {
	userID, sessionID, err := a.mint.read(bearer)
	if err != nil {
		return User{}, Session{}, err
	}
	s, u, err := a.live(ctx, sessionID)
	if err == nil && u.ID != userID {
		err = errSignedOut()
	}
	return u, s, err
}

// live returns a session that is open and whose user may use it.
func (a *Accounts) live(ctx context.Context, sessionID string) (Session, User, error) {
	s, u, err := a.store.Session(ctx, sessionID)
	switch {
	case errors.Is(err, fault.NotFound):
		return Session{}, User{}, errSignedOut()
	case err != nil:
		return Session{}, User{}, err
	case !s.RevokedAt.IsZero() || !a.now().Before(s.ExpiresAt):
		return Session{}, User{}, errSignedOut()
	case !u.Active:
		return Session{}, User{}, fault.New(fault.Unauthorized, "This account is not active. Ask whoever runs this server.")
	}
	return s, u, nil
}

// Census is what a store that knows whether anybody has signed up offers.
type Census interface {
	Accounts(ctx context.Context) (bool, error)
}

// FirstRun reports whether nobody has signed up yet; false when the store
// cannot tell.
func (a *Accounts) FirstRun(ctx context.Context) (bool, error) {
	c, ok := a.store.(Census)
	if !ok {
		return false, nil
	}
	has, err := c.Accounts(ctx)
	return err == nil && !has, err
}

func errSignedOut() error {
	return fault.New(fault.Unauthorized, "You are signed out. Sign in again.")
}

// NormalEmail is the form in which an email is stored and looked up: trimmed,
// lower-cased, and a bare address.
func NormalEmail(email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > 254 {
		return "", fault.New(fault.Invalid, "That is not an email address, as in name@example.org.")
	}
	return email, nil
}

func normalHandle(handle, email string) (string, error) {
	handle = strings.Join(strings.Fields(handle), " ")
	if handle == "" {
		handle, _, _ = strings.Cut(email, "@")
	}
	printable := strings.IndexFunc(handle, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if !printable || !utf8.ValidString(handle) || utf8.RuneCountInString(handle) > 64 {
		return "", fault.New(fault.Invalid, "The name may have at most 64 characters, and no control characters.")
	}
	return handle, nil
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}
