package identity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
)

const (
	// rotateAfter is how old the id of a session in use may get (AUTH-17).
	rotateAfter = 24 * time.Hour
	// rotateGrace is how long the id before stays good: what is under way with
	// its tokens ends in peace.
	rotateGrace = 5 * time.Minute
	// tradeTolerance is how soon after its trade a refresh token may come again
	// without ending the session: two pages of one browser that wake together
	// are no thief. The second gets no tokens, so a thief gains nothing but the
	// delay, and the owner's next refresh still ends the session.
	tradeTolerance = 10 * time.Second
)

// open signs a person in on a device. It is the last step of every sign-in,
// after all its proofs, which must still stand.
func (a *Accounts) open(ctx context.Context, u User, d Device, p Proofs) (SignIn, error) {
	now := a.now()
	s := Session{
		ID: id.New(), UserID: u.ID, Client: cmp.Or(d.Client, Web), UserAgent: clip(d.UserAgent, 400), Address: clip(d.Address, 64),
		CreatedAt: now, SignedInAt: now, UsedAt: now, Proofs: p,
	}
	s.FamilyID, s.ExpiresAt = s.ID, now.Add(a.life(s.Client, u.Plan))
	refresh := a.mint.newRefresh(s.ID)
	s.RefreshHash = hashRefresh(refresh)
	if err := a.sessions.OpenSession(ctx, s); err != nil {
		return SignIn{}, err
	}
	if u.SingleSession { // AUTH-07
		if err := a.endSessions(ctx, u.ID, s.FamilyID); err != nil {
			return SignIn{}, err
		}
	}
	return a.signIn(u, s.ID, refresh, s.ExpiresAt)
}

// life is how long a session lasts without use (AUTH-18, C-04).
func (a *Accounts) life(client, plan string) time.Duration {
	return cmp.Or(a.o.Life(client, plan), a.o.Refresh)
}

func (a *Accounts) signIn(u User, sessionID, refresh string, expires time.Time) (SignIn, error) {
	access, err := a.mint.sign(u.ID, sessionID)
	return SignIn{User: u, SessionID: sessionID, Access: access, Refresh: refresh, ExpiresAt: expires}, err
}

// Refresh trades a refresh token for new tokens (AUTH-03); a session in use
// for a day changes its id with it (AUTH-17). A token that was traded before
// ends its session: one of the two who used it stole it. Within seconds of
// its trade it is a Conflict, and gets nothing.
func (a *Accounts) Refresh(ctx context.Context, token string) (SignIn, error) {
	sessionID, ok := splitRefresh(token)
	if !ok {
		return SignIn{}, errSignedOut()
	}
	s, u, err := a.sessions.Session(ctx, sessionID)
	if errors.Is(err, fault.NotFound) {
		err = errSignedOut()
	}
	if err == nil {
		err = a.admits(u)
	}
	if err != nil {
		return SignIn{}, err
	}
	r := Rotation{
		ID: s.ID, UserID: u.ID, OldHash: hashRefresh(token), NewID: s.ID, Expires: a.now().Add(a.life(s.Client, u.Plan)),
		Grace: rotateGrace, Tolerance: tradeTolerance, Forged: !a.mint.made(token),
	}
	if a.now().Sub(s.CreatedAt) >= rotateAfter {
		r.NewID = id.New()
	}
	next := a.mint.newRefresh(r.NewID)
	r.NewHash = hashRefresh(next)
	ended, err := a.sessions.RotateSession(ctx, r)
	if err != nil {
		return SignIn{}, errors.Join(err, a.denySessions(ctx, ended))
	}
	if r.NewID != s.ID {
		err = a.bypassCache(ctx, s.ID)
	}
	if err != nil {
		return SignIn{}, err
	}
	return a.signIn(u, r.NewID, next, r.Expires)
}

// LogOut ends the sessions of an access token and a refresh token; either may
// be empty. Both stop working with the next request (AUTH-05). Tokens that
// are unknown, old or forged are no error: nobody is signed in by them.
func (a *Accounts) LogOut(ctx context.Context, access, refresh string) error {
	if sessionID, ok := splitRefresh(refresh); ok {
		genuine, err := a.genuine(ctx, sessionID, refresh)
		if genuine {
			err = a.endSession(ctx, sessionID)
		}
		if err != nil {
			return err
		}
	}
	_, sessionID, err := a.mint.read(access)
	if err != nil {
		return nil
	}
	return a.endSession(ctx, sessionID)
}

// genuine reports whether a refresh token was made for a session: it is sealed,
// or, when it is older than seals, the current one.
func (a *Accounts) genuine(ctx context.Context, sessionID, refresh string) (bool, error) {
	if a.mint.made(refresh) {
		return true, nil
	}
	s, _, err := a.sessions.Session(ctx, sessionID)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && s.RefreshHash == hashRefresh(refresh), err
}

// endSession ends the sign-in a session is of, everywhere and at once.
func (a *Accounts) endSession(ctx context.Context, sessionID string) error {
	ended, err := a.sessions.RevokeSession(ctx, sessionID)
	return errors.Join(err, a.denySessions(ctx, ended))
}

// endSessions ends all sign-ins of a user but the family but.
func (a *Accounts) endSessions(ctx context.Context, userID, but string) error {
	ended, err := a.sessions.RevokeSessions(ctx, userID, but)
	return errors.Join(err, a.denySessions(ctx, ended))
}

// Authenticate says who bearer is. A logout counts at once, and so does what
// this program changes of an account; what others change in the store counts
// within half a minute (AUTH-05, AUTH-17, AUTH-21).
// A bearer may be an access key, whose viewer is held to its grant.
func (a *Accounts) Authenticate(ctx context.Context, bearer string) (Viewer, error) {
	return a.AuthenticateAt(ctx, "", bearer)
}

// AuthenticateAt is Authenticate where keys of an audience are taken as well.
func (a *Accounts) AuthenticateAt(ctx context.Context, audience, bearer string) (Viewer, error) {
	if IsKey(bearer) {
		return a.authenticateKey(ctx, bearer, audience)
	}
	userID, sessionID, err := a.mint.read(bearer)
	if err != nil {
		return Viewer{}, err
	}
	m, err := a.readSession(ctx, sessionID)
	switch {
	case err != nil:
		return Viewer{}, err
	case m.Viewer.UserID != userID || !a.now().Before(m.Expires):
		return Viewer{}, errSignedOut()
	case !m.ConfirmBy.IsZero() && !a.now().Before(m.ConfirmBy):
		return Viewer{}, errUnconfirmed()
	}
	return m.Viewer, nil
}

// Who returns the account of a viewer's session, or of their access key.
func (a *Accounts) Who(ctx context.Context, v Viewer) (User, error) {
	if v.Grant != nil && a.o.Keys != nil {
		_, u, err := a.liveKey(ctx, v.Grant.KeyID)
		return u, err
	}
	_, u, err := a.live(ctx, v.SessionID)
	return u, err
}

// live returns a session that is open and whose user may use it.
func (a *Accounts) live(ctx context.Context, sessionID string) (Session, User, error) {
	s, u, err := a.sessions.Session(ctx, sessionID)
	switch {
	case errors.Is(err, fault.NotFound):
		return Session{}, User{}, errSignedOut()
	case err != nil:
		return Session{}, User{}, err
	case !s.RevokedAt.IsZero() || !a.now().Before(s.ExpiresAt):
		return Session{}, User{}, errSignedOut()
	}
	return s, u, a.admits(u)
}

func errSignedOut() error {
	return fault.New(fault.Unauthorized, "You are signed out. Sign in again.")
}

// Sessions lists a viewer's open sign-ins, the latest used first, and says
// which family the viewer's own is of.
func (a *Accounts) Sessions(ctx context.Context, v Viewer) (list []Session, own string, err error) {
	s, _, err := a.live(ctx, v.SessionID)
	if err != nil {
		return nil, "", err
	}
	list, err = a.sessions.ListSessions(ctx, v.UserID)
	list = slices.DeleteFunc(list, func(n Session) bool { return n.RefreshHash == "" })
	return list, s.FamilyID, err
}

// EndSession ends one of a viewer's sign-ins by its family.
func (a *Accounts) EndSession(ctx context.Context, v Viewer, familyID string) error {
	list, err := a.sessions.ListSessions(ctx, v.UserID)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.FamilyID == familyID {
			return a.endSession(ctx, s.ID)
		}
	}
	return fault.New(fault.NotFound, "There is no such session, or it is not yours.")
}

// EndOtherSessions ends all of a viewer's sign-ins but the one they use.
func (a *Accounts) EndOtherSessions(ctx context.Context, v Viewer) error {
	s, _, err := a.live(ctx, v.SessionID)
	if err != nil {
		return err
	}
	return a.endSessions(ctx, v.UserID, s.FamilyID)
}
