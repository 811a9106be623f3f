package identity

import (
	"context"
	"sync"
	"time"

	"liminal/internal/fault"
)

// memory is a Store in maps.
type memory struct {
	mu       sync.Mutex
	users    map[string]User // by email
	creds    map[string]Credential
	sessions map[string]Session
}

func newMemory() *memory {
	return &memory{users: map[string]User{}, creds: map[string]Credential{}, sessions: map[string]Session{}}
}

func (m *memory) CreateUser(_ context.Context, u User, c Credential) (User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.users[u.Email]; taken {
		return User{}, fault.New(fault.Conflict, "taken")
	}
	if len(m.users) == 0 {
		u.Role = RoleAdmin
	}
	m.users[u.Email], m.creds[u.ID] = u, c
	return u, nil
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

func (m *memory) OpenSession(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[s.ID] = s
	return nil
}

func (m *memory) Session(_ context.Context, id string) (Session, User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	for _, u := range m.users {
		if ok && u.ID == s.UserID {
			return s, u, nil
		}
	}
	return Session{}, User{}, fault.New(fault.NotFound, "no such session")
}

func (m *memory) RotateSession(_ context.Context, id, old, next string, expires time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s.RefreshHash != old {
		s.RevokedAt = expires
		m.sessions[id] = s
		return fault.New(fault.Unauthorized, "used before")
	}
	s.RefreshHash, s.ExpiresAt = next, expires
	m.sessions[id] = s
	return nil
}

func (m *memory) RevokeSession(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	s.RevokedAt = time.Unix(1, 0)
	m.sessions[id] = s
	return nil
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
