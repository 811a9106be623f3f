package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The kinds of providers.
const (
	KindOpenID = "oidc"
	KindGitHub = "github"
)

// Secret is a text that no log and no error shows.
type Secret string

// String hides the secret from fmt.
func (Secret) String() string { return "[secret]" }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// Client is us at one provider: an entry of the file.
type Client struct {
	Name   string   // "google", "github" or "oidc:acme"; the provider's name in addresses and in the store, so it must not change
	Kind   string   // KindOpenID or KindGitHub
	Label  string   // for people; the name when the file has none
	Issuer string   // of OpenID Connect; for GitHub where it is: https://github.com when the file does not say
	API    string   // of GitHub: https://api.github.com, or {issuer}/api/v3 for a server of one's own
	ID     string   // client_id
	Secret Secret   // client_secret
	Scopes []string // what is asked for: openid, profile and email, or user:email
}

// entry is the form of a Client in the file.
type entry struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Label  string   `json:"label"`
	Issuer string   `json:"issuer"`
	API    string   `json:"api"`
	ID     string   `json:"client_id"`
	Secret string   `json:"client_secret"`
	Scopes []string `json:"scopes"`
}

// fieldsOf are the keys an entry may have.
var fieldsOf = []string{"name", "kind", "label", "issuer", "api", "client_id", "client_secret", "scopes"}

// Read reads the providers of a JSON file: a list of objects with name, kind,
// label, issuer, client_id, client_secret, scopes and api. All mistakes are
// reported at once, each with its place; values are never shown.
func Read(path string) ([]Client, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the providers people may sign in with: %w", err)
	}
	clients, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the providers people may sign in with, in %s:\n%w", path, err)
	}
	return clients, nil
}

func parse(raw []byte) ([]Client, error) {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("the file is not a JSON list of objects") // its own error may show a value
	}
	var clients []Client
	var wrong []error
	names := map[string]bool{}
	for i, fields := range list {
		m := mistakes{place: fmt.Sprintf("providers[%d]", i)}
		c := m.client(fields)
		if names[c.Name] && c.Name != "" {
			m.add("name", "is the name of another provider above")
		}
		names[c.Name] = true
		clients, wrong = append(clients, c), append(wrong, m.found...)
	}
	return clients, errors.Join(wrong...)
}

// mistakes collects what is wrong with one entry.
type mistakes struct {
	place string
	found []error
}

func (m *mistakes) add(field, sentence string) {
	m.found = append(m.found, fmt.Errorf("%s.%s %s", m.place, field, sentence))
}

// client reads an entry field by field, so that one wrong type does not hide
// the mistakes after it.
func (m *mistakes) client(fields map[string]json.RawMessage) Client {
	var e entry
	into := map[string]any{
		"name": &e.Name, "kind": &e.Kind, "label": &e.Label, "issuer": &e.Issuer, "api": &e.API,
		"client_id": &e.ID, "client_secret": &e.Secret, "scopes": &e.Scopes,
	}
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		switch target, known := into[k]; {
		case !known:
			m.add(k, "is not a field here; there are "+strings.Join(fieldsOf, ", "))
		case json.Unmarshal(fields[k], target) != nil && k == "scopes":
			m.add(k, "must be a list of texts")
		case json.Unmarshal(fields[k], target) != nil:
			m.add(k, "must be a text")
		}
	}
	return m.checked(e)
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}(:[a-z0-9][a-z0-9_-]{0,31})?$`)

func (m *mistakes) checked(e entry) Client {
	if !nameForm.MatchString(e.Name) {
		m.add("name", `must be of lower-case letters and digits, as in "google" or "oidc:acme"`)
	}
	for _, f := range []struct{ field, value string }{{"client_id", e.ID}, {"client_secret", e.Secret}} {
		if strings.TrimSpace(f.value) == "" {
			m.add(f.field, "is missing")
		}
	}
	c := Client{Name: e.Name, Kind: e.Kind, Label: e.Label, Issuer: e.Issuer, API: e.API, ID: e.ID, Secret: Secret(e.Secret), Scopes: e.Scopes}
	if c.Label == "" {
		c.Label = c.Name
	}
	switch c.Kind {
	case KindOpenID:
		m.openID(&c)
	case KindGitHub:
		m.gitHub(&c)
	default:
		m.add("kind", "must be oidc or github")
	}
	return c
}

func (m *mistakes) openID(c *Client) {
	m.address("issuer", c.Issuer)
	if c.API != "" {
		m.add("api", "is of GitHub only")
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"openid", "profile", "email"}
	} else if !slices.Contains(c.Scopes, "openid") {
		m.add("scopes", "must contain openid")
	}
}

func (m *mistakes) gitHub(c *Client) {
	c.Issuer, c.API = strings.TrimSuffix(c.Issuer, "/"), strings.TrimSuffix(c.API, "/")
	switch {
	case c.Issuer == "":
		c.Issuer = "https://github.com"
		if c.API == "" {
			c.API = "https://api.github.com"
		}
	case c.API == "":
		c.API = c.Issuer + "/api/v3"
	}
	m.address("issuer", c.Issuer)
	m.address("api", c.API)
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"user:email"}
	}
}

// address wants https, or http on this machine.
func (m *mistakes) address(field, s string) {
	u, err := url.Parse(s)
	switch {
	case s == "":
		m.add(field, "is missing")
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		m.add(field, "must be an address, as in https://accounts.example.org")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		m.add(field, "must begin with https://; http:// is for this machine only")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
