package identity

import (
	"context"
	"slices"
	"sync"
	"time"

	"liminal/internal/fault"
)

// memory is a Store in maps.
type memory struct {
	mu       sync.Mutex
	now      func() time.Time
	users    map[string]User // by email
	creds    map[string]Credential
	sessions map[string]Session
	traded   map[string]Rotation // the last one of a session
	settings map[string]Settings
	reads    int // of sessions
}

func newMemory() *memory {
	return &memory{
		now: time.Now, users: map[string]User{}, creds: map[string]Credential{}, sessions: map[string]Session{},
		traded: map[string]Rotation{}, settings: map[string]Settings{},
	}
}

func (m *memory) CreateUser(_ context.Context, u User, c Credential) (User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.users[u.Email]; taken {
		return u, fault.New(fault.Conflict, "taken")
	}
	if len(m.users) == 0 {
		u.Role, u.Unverified = RoleAdmin, false
	}
	m.users[u.Email], m.creds[u.ID] = u, c
	return u, nil
}

func (m *memory) User(_ context.Context, id string) (User, Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user(id)
}

func (m *memory) user(id string) (User, Credential, error) {
	for _, u := range m.users {
		if u.ID == id {
			return u, m.creds[id], nil
		}
	}
	return User{}, Credential{}, fault.New(fault.NotFound, "no such account")
}

func (m *memory) UserByEmail(_ context.Context, email string) (User, Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, ok := m.users[email]
	if !ok {
		return User{}, Credential{}, fault.New(fault.NotFound, "no such account")
	}
	return u, m.creds[u.ID], nil
}

func (m *memory) ChangeUser(_ context.Context, id string, c UserChange) (User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, _, err := m.user(id)
	if err != nil {
		return u, err
	}
	put(&u.Role, c.Role)
	put(&u.Plan, c.Plan)
	put(&u.Active, c.Active)
	put(&u.Unverified, c.Unverified)
	put(&u.MFA, c.MFA)
	put(&u.SingleSession, c.SingleSession)
	m.users[u.Email] = u
	return u, nil
}

func put[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func (m *memory) ListUsers(context.Context, UserFilter) (list []User, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.users {
		list = append(list, u)
	}
	return list, "", nil
}

func (m *memory) DeleteUser(_ context.Context, id string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, _, err := m.user(id)
	delete(m.users, u.Email)
	return m.revoke(func(s Session) bool { return s.UserID == id }), err
}

func (m *memory) SetPassword(_ context.Context, c Credential, but string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.creds[c.UserID] = c
	return m.revoke(func(s Session) bool { return s.UserID == c.UserID && s.FamilyID != but }), nil
}

func (m *memory) OpenSession(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[s.ID] = s
	return nil
}

func (m *memory) Session(_ context.Context, id string) (Session, User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	s, ok := m.sessions[id]
	u, _, err := m.user(s.UserID)
	if !ok || err != nil {
		return Session{}, User{}, fault.New(fault.NotFound, "no such session")
	}
	return s, u, nil
}

func (m *memory) ListSessions(_ context.Context, userID string) (list []Session, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if s.UserID == userID && s.RevokedAt.IsZero() && m.now().Before(s.ExpiresAt) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return b.ExpiresAt.Compare(a.ExpiresAt) })
	return list, nil
}

func (m *memory) RotateSession(_ context.Context, r Rotation) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, now := m.sessions[r.ID], m.now()
	last, traded := m.traded[r.ID]
	switch {
	case s.RefreshHash == r.OldHash && s.RevokedAt.IsZero() && now.Before(s.ExpiresAt):
	case traded && last.OldHash == r.OldHash && now.Sub(s.UsedAt) < r.Tolerance && s.RevokedAt.IsZero():
		return nil, fault.New(fault.Conflict, "a moment ago")
	case r.Forged:
		return nil, fault.New(fault.Unauthorized, "made up")
	default:
		return m.revoke(func(o Session) bool { return o.FamilyID == s.FamilyID }), fault.New(fault.Unauthorized, "used before")
	}
	m.traded[r.ID], s.UsedAt = r, now
	next := s
	if r.NewID != r.ID {
		s.RefreshHash, s.ExpiresAt = "", now.Add(r.Grace)
		m.sessions[r.ID] = s
		next.CreatedAt = now
	}
	next.ID, next.RefreshHash, next.ExpiresAt = r.NewID, r.NewHash, r.Expires
	m.sessions[next.ID] = next
	return nil, nil
}

func (m *memory) RevokeSession(_ context.Context, id string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family := m.sessions[id].FamilyID
	return m.revoke(func(s Session) bool { return s.FamilyID == family }), nil
}

func (m *memory) RevokeSessions(_ context.Context, userID, but string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revoke(func(s Session) bool { return s.UserID == userID && s.FamilyID != but }), nil
}

func (m *memory) revoke(which func(Session) bool) (ended []string) {
	for id, s := range m.sessions {
		if which(s) && s.RevokedAt.IsZero() {
			s.RevokedAt = m.now()
			m.sessions[id] = s
			ended = append(ended, id)
		}
	}
	return ended
}

func (m *memory) Settings(_ context.Context, userID string) (Settings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settings[userID], nil
}

func (m *memory) ChangeSettings(_ context.Context, userID string, c SettingsChange) (s Settings, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, err = c.Apply(m.settings[userID]); err == nil {
		m.settings[userID] = s
	}
	return s, err
}

func (m *memory) Accounts(context.Context) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.users) > 0, nil
}

func (m *memory) deactivate(email string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.users[email]
	u.Active = false
	m.users[email] = u
}
