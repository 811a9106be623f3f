package identity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/id"
)

// Options says how long sign-ins last, how much work a password is, and what
// accounts stand on.
type Options struct {
	Key     []byte           // signs access tokens; at least 32 bytes, from the store's secrets
	Access  time.Duration    // life of an access token; 30 minutes when zero (AUTH-04)
	Refresh time.Duration    // life of a refresh token; 7 days when zero (AUTH-04)
	Hashes  int              // password hashes at once; 2 when zero
	Now     func() time.Time // time.Now when nil
	Cost    Cost             // of one hash; OWASP's advice when zero

	// Life is how long a session of a client (Web or Mobile) lasts without use,
	// by plan (AUTH-18). nil, and zero for what it does not know: Refresh.
	Life func(client, plan string) time.Duration

	Cache cache.Cache // cached sessions, one-time links, counters of failures; nil: nothing is kept
	Mail  Mail        // nil: no mail is sent

	Factors   Factors   // nil: nobody has a second factor
	FactorKey []byte    // seals their secrets; at least 32 bytes, from the store's secrets
	Providers Providers // nil: nobody signs in elsewhere (AUTH-16)

	Keys   Keys   // nil: there are no access keys
	Grants Grants // nil: no program signs its person in

	Administration Administration // nil: administrators can do nothing but list and change accounts

	// Confirm makes new accounts confirm their address (AUTH-11). It is for
	// servers whose mails arrive: without a mail server a sign-up would wait for
	// a letter that lies in a folder. With it a sign-up answers the same whether
	// or not the address has an account, and its owner gets a mail; without it a
	// known address is a Conflict, the kinder answer among people who trust each
	// other. The first account is an administrator and needs no confirming.
	Confirm bool

	Tenants      []string     // there are; the first is the default. Empty: "default" only (ISO-12)
	SignUpClosed bool         // only the first account can be made
	Plan         string       // of new accounts; empty: "free"
	PublicURL    string       // of the links in mails, without a trailing slash
	Logger       *slog.Logger // of what nobody waits for; discards when nil

	// Forget removes what a deleted account left outside the store: its folder.
	Forget func(ctx context.Context, userID string) error
}

func (o Options) withDefaults() Options {
	if o.Plan == "" {
		o.Plan = "free"
	}
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
		o.Cache = noCache{}
	}
	if len(o.Tenants) == 0 {
		o.Tenants = []string{"default"}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Life == nil {
		o.Life = func(string, string) time.Duration { return 0 }
	}
	return o
}

// Accounts signs people up and in, and says who a token belongs to. It is safe
// for concurrent use.
type Accounts struct {
	o        Options
	people   People
	sessions Sessions
	choices  Choices
	mint     *mint
	hasher   *hasher
	vault    *factorVault // nil without Options.Factors
	now      func() time.Time

	letters chan struct{}  // one place for each mail under way
	mailing sync.WaitGroup // of them
}

// NewAccounts returns accounts over a store.
func NewAccounts(store Store, o Options) (*Accounts, error) {
	o = o.withDefaults()
	if len(o.Key) < 32 {
		return nil, errors.New("identity: the key of access tokens needs at least 32 bytes")
	}
	if _, lost := o.Cache.(noCache); o.Confirm && (o.Mail == nil || lost) {
		return nil, errors.New("identity: addresses are confirmed by mails whose links a cache keeps; there is no mail, or no cache")
	}
	h, err := newHasher(o.Cost, o.Hashes)
	if err != nil {
		return nil, err
	}
	v, err := newVault(o)
	if err != nil {
		return nil, err
	}
	return &Accounts{
		o: o, people: store, sessions: store, choices: store, mint: newMint(o.Key, o.Access, o.Now), hasher: h, vault: v, now: o.Now,
		letters: make(chan struct{}, maxLetters),
	}, nil
}

// lastMails is how long Close waits: a mail server that does not answer must
// not hold up the end of a process, and whoever waits for a mail asks again.
const lastMails = 5 * time.Second

// Close waits for the mails under way, for seconds at most.
func (a *Accounts) Close() error {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		a.mailing.Wait()
	}()
	select {
	case <-sent:
		return nil
	case <-time.After(lastMails):
		return errors.New("identity: some mails were still under way and may not arrive")
	}
}

// Device is where a sign-in comes from.
type Device struct {
	UserAgent string
	Address   string
	Client    string // Web or Mobile; empty: Web
}

// NewAccount is what a person fills in to sign up.
type NewAccount struct {
	Email    string
	Password string
	Handle   string // empty: the part of the email before the @
	Locale   string // "en" or "de"; empty: "en"
	Tenant   string // empty: the default one (ISO-12)
	Stranger bool   // has not shown that the first account is theirs to make
}

// SignIn is an open session and the tokens to use it.
type SignIn struct {
	User      User
	SessionID string
	Access    string
	Refresh   string
	ExpiresAt time.Time // when the session ends unless it is refreshed (API-19)
	// Pending says that nothing of the above is there: a mail has been sent, and
	// whoever reads it knows how to go on.
	Pending bool
}

// SignUp creates an account and signs it in (AUTH-01). The first account of
// a store administers it. A known email is a Conflict, or, where addresses
// are confirmed, gets the answer a new one gets.
func (a *Accounts) SignUp(ctx context.Context, n NewAccount, d Device) (SignIn, error) {
	u, err := a.draft(n)
	if err != nil {
		return SignIn{}, err
	}
	if err := cmp.Or(a.Welcomes(ctx, n.Stranger), a.mayJoin(ctx)); err != nil {
		return SignIn{}, err
	}
	hash, err := a.hasher.hash(ctx, n.Password)
	if err != nil {
		return SignIn{}, err
	}
	u, err = a.people.CreateUser(ctx, u, Credential{UserID: u.ID, Hash: hash, Algorithm: "argon2id"})
	if a.o.Confirm && errors.Is(err, fault.Conflict) {
		a.writeKnown(ctx, u)
		return SignIn{Pending: true}, nil
	}
	if err != nil {
		return SignIn{}, err
	}
	if err := a.keeps(ctx, u, n.Stranger); err != nil {
		return SignIn{}, err
	}
	if u.Unverified {
		a.writeConfirmation(ctx, u)
		return SignIn{Pending: true}, nil
	}
	return a.open(ctx, u, d, Proofs{})
}

// mayJoin refuses when sign-up is closed and somebody is here already.
func (a *Accounts) mayJoin(ctx context.Context) error {
	if !a.o.SignUpClosed {
		return nil
	}
	door, err := a.Door(ctx)
	if err == nil && !door.SignUp {
		err = errClosed()
	}
	return err
}

// unmake removes an account that has just been made and has no session yet.
func (a *Accounts) unmake(ctx context.Context, userID string) error {
	_, err := a.people.DeleteUser(ctx, userID)
	return err
}

func errClosed() error {
	return fault.New(fault.Forbidden, "This server makes no new accounts. Ask whoever runs it.")
}

func (a *Accounts) draft(n NewAccount) (User, error) {
	email, err := newEmail(n.Email)
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
	tenant, err := a.tenant(n.Tenant)
	if err != nil {
		return User{}, err
	}
	locale := "en"
	if n.Locale == "de" {
		locale = "de"
	}
	return User{
		ID: id.New(), Email: email, Handle: handle, Role: RoleUser, Plan: a.o.Plan, Active: true,
		Locale: locale, CreatedAt: a.now(), TenantID: tenant, Unverified: a.o.Confirm,
	}, nil
}

// tenant is the tenant of a name, which must be one there is.
func (a *Accounts) tenant(name string) (string, error) {
	if name == "" {
		return a.o.Tenants[0], nil
	}
	if !slices.Contains(a.o.Tenants, name) {
		return "", fault.New(fault.Invalid, "There is no such tenant here.").With(map[string]any{"field": "tenant_id"})
	}
	return name, nil
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
	if err := a.throttled(ctx, try.Email, d.Address); err != nil {
		return SignIn{}, err
	}
	u, c, err := a.find(ctx, try.Email)
	if err != nil {
		return SignIn{}, err
	}
	ok, err := a.hasher.matches(ctx, try.Password, c.Hash)
	if err != nil {
		return SignIn{}, err
	}
	elsewhere := try.Tenant != "" && try.Tenant != u.TenantID
	if !ok || !u.Active || elsewhere || utf8.RuneCountInString(try.Password) > MaxPassword {
		a.recordFailure(ctx, try.Email, d.Address)
		return SignIn{}, fault.New(fault.Unauthorized, "The email or the password is wrong.")
	}
	if err := a.admits(u); err != nil {
		return SignIn{}, err
	}
	proved, err := a.secondFactor(ctx, u, try.Code, try.Recovery)
	if err != nil {
		return SignIn{}, err
	}
	return a.open(ctx, u, d, Proofs{Password: c.Hash, Factor: proved})
}

// find returns the account of an email; an unknown one gets no account and
// the decoy's hash.
func (a *Accounts) find(ctx context.Context, email string) (User, Credential, error) {
	normal, err := NormalEmail(email)
	if err != nil {
		return User{}, Credential{Hash: a.hasher.decoy}, nil
	}
	u, c, err := a.people.UserByEmail(ctx, normal)
	if errors.Is(err, fault.NotFound) {
		return User{}, Credential{Hash: a.hasher.decoy}, nil
	}
	return u, c, err
}

// confirmWithin is how long an account may be used before its address is
// confirmed (AUTH-11, C-52).
const confirmWithin = 24 * time.Hour

// admits says why an account may not be used, if it may not.
func (a *Accounts) admits(u User) error {
	switch {
	case !u.Active:
		return errInactive()
	case a.unconfirmed(u) && !a.now().Before(u.CreatedAt.Add(confirmWithin)):
		return errUnconfirmed()
	}
	return nil
}

func (a *Accounts) unconfirmed(u User) bool { return a.o.Confirm && u.Unverified }

func errUnconfirmed() error {
	return fault.New(fault.Forbidden, "The address of this account has not been confirmed within a day. Follow the link in the mail, or ask for a new one.").
		With(map[string]any{"reason": "unverified"})
}

// recentSignIn is how long after a sign-in its session may open the account
// further doors.
const recentSignIn = time.Hour

// keeper is the account of a viewer who may give it what outlives a new
// password: a second factor, or a link to elsewhere. Whoever has not shown that
// the address is theirs would keep a door to the account of whoever shows it
// later; and whoever came by the session of long ago would make it their own.
func (a *Accounts) keeper(ctx context.Context, v Viewer) (User, error) {
	s, u, err := a.live(ctx, v.SessionID)
	switch {
	case err != nil:
		return User{}, err
	case a.unconfirmed(u):
		return User{}, fault.New(fault.Forbidden, "Confirm the address of this account first: follow the link in the mail, or ask for a new one.").
			With(map[string]any{"reason": "confirm_first"})
	case a.now().Sub(s.SignedInAt) > recentSignIn:
		return User{}, fault.New(fault.Forbidden, "You signed in a while ago. Sign out, sign in again, and do this within an hour.").
			With(map[string]any{"reason": "sign_in_again"})
	}
	return u, nil
}

// Census is what a store that knows whether anybody has signed up offers.
type Census interface {
	Accounts(ctx context.Context) (bool, error)
}

// Door is what a stranger finds.
type Door struct {
	FirstRun bool // nobody has signed up yet; false when the store cannot tell
	SignUp   bool // an account can be made
}

// Door tells what a stranger finds now.
func (a *Accounts) Door(ctx context.Context) (Door, error) {
	c, ok := a.people.(Census)
	if !ok {
		return Door{SignUp: !a.o.SignUpClosed}, nil
	}
	has, err := c.Accounts(ctx)
	first := err == nil && !has
	return Door{FirstRun: first, SignUp: first || !a.o.SignUpClosed}, err
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}
