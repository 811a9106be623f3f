package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
)

const (
	resetLife   = 15 * time.Minute // AUTH-08, C-01
	confirmLife = confirmWithin
	// maxLetters is how many mails may be under way; one more is dropped, and
	// its person asks again.
	maxLetters = 64
	mailTime   = 30 * time.Second
	knownPause = time.Hour
)

// link is what a one-time link in a mail stands for. The cache keeps it under
// the hash of its token: who reads the cache cannot use it.
type link struct {
	UserID string `json:"user_id"`
	Seal   string `json:"seal"` // of what must not have changed since
}

func linkKey(kind, token string) string { return "auth:link:" + kind + ":" + hashRefresh(token) }

// newLink makes a token for a person, good once and for a time.
func (a *Accounts) newLink(ctx context.Context, kind string, l link, life time.Duration) (token string, err error) {
	token = rand.Text() + rand.Text()
	raw, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return token, a.o.Cache.Set(ctx, linkKey(kind, token), raw, life)
}

// seal binds a link to a value it was made for, without telling the value.
func (a *Accounts) seal(kind, value string) string {
	mac := hmac.New(sha256.New, a.o.Key)
	mac.Write([]byte("link " + kind + "\x00" + value))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func errLink() error {
	return fault.New(fault.Invalid, "This link has been used or has run out. Ask for a new one.").
		With(map[string]any{"field": "token"})
}

func readLink(raw []byte, ok bool, err error) (l link, _ error) {
	switch {
	case err != nil:
		return l, err
	case !ok || json.Unmarshal(raw, &l) != nil:
		return l, errLink()
	}
	return l, nil
}

// RequestReset mails a link to set a new password (AUTH-08). It says nothing
// and does all its work after it has returned, so that neither its answer nor
// its time tells whether the address has an account.
func (a *Accounts) RequestReset(ctx context.Context, email string) {
	a.later(ctx, func(ctx context.Context) error {
		u, c, err := a.find(ctx, email)
		if err != nil || u.ID == "" || !u.Active {
			return err
		}
		token, err := a.newLink(ctx, "reset", link{UserID: u.ID, Seal: a.seal("reset", c.Hash)}, resetLife)
		if err != nil {
			return err
		}
		return a.o.Mail.Send(ctx, a.resetLetter(u, token))
	})
}

// CompleteReset sets a new password by the token of a mail, once, and ends all
// sessions and access keys (AUTH-09): who asks for it may have lost the account
// to somebody who made one. Whoever reads the mail has the address: it counts as
// confirmed. Other links of the same kind are void, for the password they were
// made for is gone. A second factor stays.
func (a *Accounts) CompleteReset(ctx context.Context, token, password string) error {
	l, err := readLink(a.o.Cache.Get(ctx, linkKey("reset", token)))
	if err != nil {
		return err
	}
	u, c, err := a.people.User(ctx, l.UserID)
	switch {
	case errors.Is(err, fault.NotFound):
		return errLink()
	case err != nil:
		return err
	case !u.Active || !hmac.Equal([]byte(l.Seal), []byte(a.seal("reset", c.Hash))):
		return errLink()
	}
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	hash, err := a.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	if _, err := readLink(a.o.Cache.Take(ctx, linkKey("reset", token))); err != nil {
		return err
	}
	if err := a.confirm(ctx, u); err != nil {
		return err
	}
	// Before the password: what fails between the two leaves no key of before.
	if err := a.revokeKeys(ctx, u.ID, u.ID); err != nil {
		return err
	}
	return a.setPassword(ctx, u.ID, hash, "")
}

func (a *Accounts) setPassword(ctx context.Context, userID, hash, but string) error {
	ended, err := a.people.SetPassword(ctx, Credential{UserID: userID, Hash: hash, Algorithm: "argon2id"}, but)
	return errors.Join(err, a.denySessions(ctx, ended))
}

// ChangePassword sets a viewer's password and ends their other sessions.
func (a *Accounts) ChangePassword(ctx context.Context, v Viewer, old, password string) error {
	s, u, err := a.live(ctx, v.SessionID)
	if err != nil {
		return err
	}
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	if err := a.provePassword(ctx, u, old, "old_password"); err != nil {
		return err
	}
	hash, err := a.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	return a.setPassword(ctx, u.ID, hash, s.FamilyID)
}

// provePassword checks the password of somebody who is signed in. A wrong one
// is Invalid, not Unauthorized: the session is as good as before.
func (a *Accounts) provePassword(ctx context.Context, u User, password, field string) error {
	_, c, err := a.people.User(ctx, u.ID)
	if err != nil {
		return err
	}
	if c.Hash == "" {
		return fault.New(fault.Conflict, "This account has no password. Ask for one as if it were forgotten.").
			With(map[string]any{"reason": "no_password"})
	}
	ok, err := a.hasher.matches(ctx, password, c.Hash)
	if err == nil && !ok {
		err = fault.New(fault.Invalid, "The password is wrong.").With(map[string]any{"field": field})
	}
	return err
}

// RequestConfirmation mails a new link to confirm an address. Like
// RequestReset it tells nothing.
func (a *Accounts) RequestConfirmation(ctx context.Context, email string) {
	a.later(ctx, func(ctx context.Context) error {
		u, _, err := a.find(ctx, email)
		if err != nil || u.ID == "" || !u.Active || !u.Unverified {
			return err
		}
		return a.sendConfirmation(ctx, u)
	})
}

// writeConfirmation mails the link that confirms a new account's address.
func (a *Accounts) writeConfirmation(ctx context.Context, u User) {
	a.later(ctx, func(ctx context.Context) error { return a.sendConfirmation(ctx, u) })
}

func (a *Accounts) sendConfirmation(ctx context.Context, u User) error {
	token, err := a.newLink(ctx, "confirm", link{UserID: u.ID, Seal: a.seal("confirm", u.Email)}, confirmLife)
	if err != nil {
		return err
	}
	return a.o.Mail.Send(ctx, a.confirmLetter(u, token))
}

// writeKnown tells the owner of an address that somebody wanted an account
// for it, once an hour whoever wants it: a sign-up must not fill a mailbox.
func (a *Accounts) writeKnown(ctx context.Context, asked User) {
	a.later(ctx, func(ctx context.Context) error {
		u, _, err := a.find(ctx, asked.Email)
		if err != nil || u.ID == "" || !u.Active {
			return err
		}
		first, err := a.o.Cache.Add(ctx, "auth:known:"+accountKey(u.Email), []byte{'1'}, knownPause)
		if err != nil || !first {
			return err
		}
		return a.o.Mail.Send(ctx, a.knownLetter(u))
	})
}

// ConfirmEmail confirms an address by the token of a mail, once (AUTH-10).
func (a *Accounts) ConfirmEmail(ctx context.Context, token string) error {
	l, err := readLink(a.o.Cache.Take(ctx, linkKey("confirm", token)))
	if err != nil {
		return err
	}
	u, _, err := a.people.User(ctx, l.UserID)
	if errors.Is(err, fault.NotFound) || err == nil && !hmac.Equal([]byte(l.Seal), []byte(a.seal("confirm", u.Email))) {
		return errLink()
	}
	if err != nil {
		return err
	}
	return a.confirm(ctx, u)
}

// confirm marks an address as confirmed.
func (a *Accounts) confirm(ctx context.Context, u User) error {
	_, err := a.change(ctx, u.ID, UserChange{Unverified: new(false)})
	return err
}

// later runs what nobody waits for, within a bound.
func (a *Accounts) later(ctx context.Context, send func(ctx context.Context) error) {
	if a.o.Mail == nil {
		return
	}
	select {
	case a.letters <- struct{}{}:
	default:
		a.o.Logger.WarnContext(ctx, "too many mails are under way; one was not sent", "most", maxLetters)
		return
	}
	ctx = context.WithoutCancel(ctx)
	a.mailing.Go(func() {
		defer func() { <-a.letters }()
		ctx, cancel := context.WithTimeout(ctx, mailTime)
		defer cancel()
		if err := send(ctx); err != nil {
			a.o.Logger.ErrorContext(ctx, "a mail could not be sent", "error", err)
		}
	})
}
