package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"liminal/internal/fault"
	"liminal/internal/filelock"
)

// Session is a sign-in to one server, as it is kept between calls.
type Session struct {
	User    string    `json:"user"` // e-mail address
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	Expires time.Time `json:"expires_at"` // when it ends unless it is used
}

// Sessions keeps sign-ins in a file that its owner alone may read: for each
// server the one a person made, and those that settings made for others, apart,
// so that a script does not make a person somebody else. The zero Sessions
// keeps none. Several processes may use one file.
type Sessions struct{ File string }

// Of gives the sign-in to a server that a person made; ok is false when there
// is none.
func (k Sessions) Of(base string) (s Session, ok bool, err error) {
	all, err := k.read()
	s, ok = all[home(base)]
	return s, ok, err
}

// Keep keeps the sign-in that a person made, in place of the one before.
func (k Sessions) Keep(base string, s Session) error { return k.keep(home(base), s) }

func (k Sessions) keep(key string, s Session) error {
	return k.alone(func() error { return k.put(key, &s) })
}

// Forget removes all sign-ins to a server and gives them.
func (k Sessions) Forget(base string) (forgotten []Session, err error) {
	err = k.alone(func() error {
		all, err := k.read()
		if err != nil {
			return err
		}
		for key, s := range all {
			if key != home(base) && !strings.HasPrefix(key, home(base)+" ") {
				continue
			}
			if err := k.put(key, nil); err != nil {
				return err
			}
			forgotten = append(forgotten, s)
		}
		return nil
	})
	return forgotten, err
}

// home is a server's address as the file has it.
func home(base string) string { return strings.TrimRight(base, "/") }

// keyOf is where the sign-in stands that goes on for an account: the person's
// own, unless the account is somebody else's.
func (k Sessions) keyOf(base, user string) (key string, s Session, there bool, err error) {
	all, err := k.read()
	key = home(base)
	user = strings.ToLower(strings.TrimSpace(user))
	if s, there = all[key]; user != "" && !(there && strings.EqualFold(s.User, user)) {
		key += " " + user
		s, there = all[key]
	}
	return key, s, there, err
}

func (k Sessions) read() (map[string]Session, error) {
	all := map[string]Session{}
	if k.File == "" {
		return all, nil
	}
	raw, err := os.ReadFile(k.File)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("the sign-ins cannot be read: %w", err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("the sign-ins in %s are damaged (%w): remove the file and sign in again", k.File, err)
	}
	return all, nil
}

// put writes the file anew beside the old one, so that it is never half there.
func (k Sessions) put(key string, s *Session) error {
	all, err := k.read()
	if err != nil {
		return err
	}
	delete(all, key)
	if s != nil {
		all[key] = *s
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(k.File), ".sessions-*") // mode 0600
	if err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err == nil {
		err = os.Rename(f.Name(), k.File)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a leftover is its owner's alone
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	return nil
}

// alone runs do while no other process changes the file: a refresh token is
// good once, so that two who traded it would end the sign-in.
func (k Sessions) alone(do func() error) error {
	if k.File == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(k.File), 0o700); err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	lock, err := os.OpenFile(k.File+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	defer func() { _ = lock.Close() }() // which lets go of it
	if err := filelock.Lock(lock); err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	return do()
}

// Try is what a person gives to sign in.
type Try struct {
	User, Password string
	Code           string // of the authenticator, when the account has one
	Recovery       string // a recovery code instead of Code
}

// credentials are what a server answers a sign-in with.
type credentials struct {
	User struct {
		Email string `json:"email"`
	} `json:"user"`
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	Expires time.Time `json:"session_expires_at"`
}

func (c credentials) session() Session {
	return Session{User: c.User.Email, Access: c.Access, Refresh: c.Refresh, Expires: c.Expires}
}

// LogIn trades an address and its password for a session. An account with a
// second factor is Unauthorized without it; FactorNeeded tells that apart.
func LogIn(ctx context.Context, base string, t Try) (Session, error) {
	s := newServer(base)
	body := map[string]string{"email": t.User, "password": t.Password}
	if t.Code != "" {
		body["mfa_code"] = t.Code
	}
	if t.Recovery != "" {
		body["recovery_code"] = t.Recovery
	}
	var c credentials
	err := s.send(ctx, "", http.MethodPost, "/v1/auth/login", body, &c)
	return c.session(), err
}

// LogOut ends a session on its server.
func LogOut(ctx context.Context, base string, session Session) error {
	s := newServer(base)
	return s.send(ctx, session.Access, http.MethodPost, "/v1/auth/logout", map[string]string{"refresh_token": session.Refresh}, nil)
}

// FactorNeeded reports whether a sign-in lacked nothing but a second factor.
func FactorNeeded(err error) bool {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	var details struct {
		Reason string `json:"reason"`
	}
	raw, _ := refused.Details.(json.RawMessage)
	return json.Unmarshal(raw, &details) == nil && details.Reason == "mfa_required"
}

// renew gets a token in place of one that the server does not take any more:
// the one another process got meanwhile, else one for the refresh token, else
// one for the password.
func (s *Server) renew(ctx context.Context, stale string) (token string, err error) {
	err = s.account.Kept.alone(func() error {
		key, now, there, err := s.account.Kept.keyOf(s.base, s.account.User)
		if err != nil || !there {
			return err
		}
		if now.Access != stale {
			token = now.Access
			return nil
		}
		var c credentials
		err = s.send(ctx, "", http.MethodPost, "/v1/auth/refresh", map[string]string{"refresh_token": now.Refresh}, &c)
		if errors.Is(err, fault.Unauthorized) {
			return s.account.Kept.put(key, nil)
		}
		if err != nil {
			return err
		}
		token = c.Access
		next := c.session()
		return s.account.Kept.put(key, &next)
	})
	switch {
	case err != nil || token != "":
		return token, err
	case s.account.User != "" && s.account.Password != "":
		return s.enter(ctx)
	}
	return "", fault.New(fault.Unauthorized, "Your sign-in to %s has ended. Sign in again: liminald login --url %s", s.base, s.base)
}

// enter signs in by the password and keeps the session.
func (s *Server) enter(ctx context.Context) (token string, err error) {
	session, err := LogIn(ctx, s.base, Try{User: s.account.User, Password: s.account.Password})
	if err != nil {
		return "", err
	}
	key, _, _, err := s.account.Kept.keyOf(s.base, s.account.User)
	if err == nil {
		err = s.account.Kept.keep(key, session)
	}
	if err != nil && s.account.Unkept != nil {
		s.account.Unkept(err)
	}
	return session.Access, nil
}
