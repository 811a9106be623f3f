package proxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/filelock"
)

// A token is for an agent; who has none gets nothing. Those of `palace run` are in
// the memory of the proxy for as long as the command runs; those of `palace env`
// last until they are revoked, and their hashes are in tokensFile.
const (
	tokenPrefix = "plt_"
	tokensFile  = "agents.json"
	tokenHeader = "X-Palace-Token"
	// tokenPath is how a token stands in a base URL, which every client can be given.
	tokenPath = "/a/"
	// runLength is how much of a token's hash names the command that has it.
	runLength = 16
)

// Agent is who a token was made for.
type Agent struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"`
	// run tells commands of one name apart; "" where the token lasts.
	run string
	// operator is who runs the proxy.
	operator bool
}

// NewToken makes a token: 256 bits.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return tokenPrefix + hex.EncodeToString(b[:])
}

// BaseURL is what a client is given to reach a proxy with a token.
func BaseURL(address, token string) string { return "http://" + address + tokenPath + token }

// hashOf is what is kept of a token.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Tokens knows who may pass.
type Tokens struct {
	file     string // of those that last
	operator string // the hash of the operator's; "": there is none

	mu      sync.Mutex
	granted map[string]Agent // by hash
	more    chan struct{}    // closed when one is granted
	settled time.Time        // from when one that is not known is refused at once
	lasting []lastingToken
	read    os.FileInfo // the file as it was read last
}

// lastingToken is one of `palace env`.
type lastingToken struct {
	Agent
	Hash string    `json:"sha256"`
	Made time.Time `json:"made"`
}

// NewTokens are those that last in a folder, until others are granted.
func NewTokens(dir string) *Tokens {
	return &Tokens{file: filepath.Join(dir, tokensFile), granted: map[string]Agent{}, more: make(chan struct{})}
}

// settling is how long a proxy that has begun waits for commands that held the one
// before it: it was killed, they hand their tokens in again, and an agent that asks
// meanwhile must not be told that it has none.
const settling = 2 * time.Second

// settle has tokens waited for that are not known yet.
func (t *Tokens) settle() { t.settled = time.Now().Add(settling) }

// grant lets a token pass until it is taken back.
func (t *Tokens) grant(hash string, a Agent) (takeBack func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.run = hash[:min(len(hash), runLength)]
	t.granted[hash] = a
	close(t.more)
	t.more = make(chan struct{})
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.granted, hash)
	}
}

// of is the agent of a token. The file is looked at each time: who is revoked
// passes no more.
func (t *Tokens) of(token string) (Agent, bool) {
	hash := hashOf(token)
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.granted[hash]; ok {
		return a, true
	}
	if t.operator != "" && hash == t.operator {
		return Agent{Name: operatorName, operator: true}, true
	}
	info, err := os.Stat(t.file)
	switch {
	case err != nil:
		t.lasting, t.read = nil, nil
	case t.read == nil || !os.SameFile(info, t.read) || !info.ModTime().Equal(t.read.ModTime()) || info.Size() != t.read.Size():
		if list, err := readTokens(t.file); err == nil {
			t.lasting, t.read = list, info
		}
	}
	for _, l := range t.lasting {
		if l.Hash == hash {
			return l.Agent, true
		}
	}
	return Agent{}, false
}

// awaited is the agent of a token that is known, or will be before all is settled.
func (t *Tokens) awaited(ctx context.Context, token string) (Agent, bool) {
	if a, ok := t.of(token); ok || time.Now().After(t.settled) {
		return a, ok
	}
	limit, cancel := context.WithDeadline(ctx, t.settled)
	defer cancel()
	for {
		t.mu.Lock()
		more := t.more
		t.mu.Unlock()
		if a, ok := t.of(token); ok {
			return a, true
		}
		select {
		case <-more:
		case <-limit.Done():
			return Agent{}, false
		}
	}
}

// admit lets a request pass that comes from a program with a token. The token is
// taken out of it.
func (t *Tokens) admit(r *http.Request) (Agent, string, *refusal) {
	if r.Header.Get("Origin") != "" {
		return Agent{}, "", refuse(http.StatusForbidden, "permission_error", "liminald palace: pages of browsers get nothing here")
	}
	if !loopback(r.Host) {
		return Agent{}, "", refuse(http.StatusForbidden, "permission_error", "liminald palace: this is reached by 127.0.0.1 or localhost only")
	}
	token := r.Header.Get(tokenHeader)
	if rest, ok := strings.CutPrefix(r.URL.Path, tokenPath); ok {
		var inPath string
		inPath, _, _ = strings.Cut(rest, "/")
		prefix := tokenPath + inPath
		if r.URL.RawPath != "" {
			raw, ok := strings.CutPrefix(r.URL.RawPath, prefix)
			if !ok { // a token has nothing to escape
				return Agent{}, "", refuseToken()
			}
			r.URL.RawPath = raw
		}
		token, r.URL.Path = inPath, strings.TrimPrefix(r.URL.Path, prefix)
	}
	if !strings.HasPrefix(token, tokenPrefix) || !strings.HasPrefix(r.URL.Path, "/") {
		return Agent{}, "", refuseToken()
	}
	agent, ok := t.awaited(r.Context(), token)
	if !ok {
		return Agent{}, "", refuseToken()
	}
	return agent, token, nil
}

// Guarded lets requests with one token through to a handler, and no page of a browser,
// as a proxy does. The token is taken out of them.
func Guarded(token string, next http.Handler) http.Handler {
	t := &Tokens{granted: map[string]Agent{hashOf(token): {}}, more: make(chan struct{})}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, refusal := t.admit(r); refusal != nil {
			refusal.of(r.URL.Path).write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuseToken() *refusal {
	return refuse(http.StatusUnauthorized, "authentication_error", "liminald palace: a token is needed, and this is none that is known here; `liminald palace run -- COMMAND` gives the command one, `liminald palace env NAME` prints one")
}

// loopback reports whether a Host names this machine to itself.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

func readTokens(file string) (list []lastingToken, err error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("the tokens in %s cannot be read: %w", file, err)
	}
	return list, nil
}

// AddToken makes a token that lasts. One of the same name is replaced.
func AddToken(dir string, a Agent) (token string, err error) {
	token = NewToken()
	return token, changeTokens(dir, func(list []lastingToken) []lastingToken {
		list = slices.DeleteFunc(list, func(l lastingToken) bool { return l.Name == a.Name })
		return append(list, lastingToken{Agent: a, Hash: hashOf(token), Made: time.Now().UTC()})
	})
}

// RemoveToken revokes the token of that name.
func RemoveToken(dir, name string) error {
	found := false
	err := changeTokens(dir, func(list []lastingToken) []lastingToken {
		return slices.DeleteFunc(list, func(l lastingToken) bool {
			found = found || l.Name == name
			return l.Name == name
		})
	})
	if err == nil && !found {
		return fmt.Errorf("there is no token of the name %q; liminald palace status lists them", name)
	}
	return err
}

// LastingAgent is one whose token lasts.
type LastingAgent struct {
	Agent
	Made time.Time `json:"made"`
}

// Lasting are the agents whose tokens last.
func Lasting(dir string) (agents []LastingAgent, err error) {
	list, err := readTokens(filepath.Join(dir, tokensFile))
	for _, l := range list {
		agents = append(agents, LastingAgent{l.Agent, l.Made})
	}
	return agents, err
}

// changeTokens writes the file anew, one process at a time.
func changeTokens(dir string, change func([]lastingToken) []lastingToken) (err error) {
	if err := makeFolder(dir); err != nil {
		return err
	}
	file := filepath.Join(dir, tokensFile)
	l, err := os.OpenFile(file+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := filelock.Lock(l); err != nil {
		return err
	}
	list, err := readTokens(file)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(change(list), "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".agents-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the tokens in %s cannot be written: %w", file, err), os.Remove(f.Name()))
	}
	return nil
}
