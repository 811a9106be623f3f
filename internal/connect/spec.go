package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"liminal/internal/check"
	"liminal/internal/fault"
)

// Spec is a connection.spec artifact: a place where people have accounts that
// tools act with.
type Spec struct {
	Kind      string            `json:"kind"` // "connection.spec"
	Title     string            `json:"title"`
	Authorize string            `json:"authorize_url"`
	Token     string            `json:"token_url"`
	Revoke    string            `json:"revoke_url,omitempty"` // RFC 7009; empty: there is none
	ClientID  string            `json:"client_id,omitempty"`  // empty: it is set with the secret
	Secret    string            `json:"secret"`               // the name of the client's secret
	Basic     bool              `json:"basic,omitempty"`      // the client proves itself in a header; false: in the body
	PKCE      *bool             `json:"pkce,omitempty"`       // nil: true
	Scopes    []string          `json:"scopes"`
	Params    map[string]string `json:"params,omitempty"` // further parameters of the authorization request
	Origins   []string          `json:"origins"`          // where a token may go, as https://host
	Headers   map[string]string `json:"headers,omitempty"`
	Account   *Account          `json:"account,omitempty"` // how to know whose token it is; nil: nobody asks
}

// Account says where the server tells whose token it is.
type Account struct {
	URL    string `json:"url"`
	ID     string `json:"id"`               // pointer into the answer
	Prefix string `json:"prefix,omitempty"` // before the id, as tools send it
	Name   string `json:"name,omitempty"`   // pointer to what people call the account
}

// Decode reads a document of the kind.
func Decode(doc []byte) (Spec, error) {
	var s Spec
	if err := json.NewDecoder(bytes.NewReader(doc)).Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("the connection.spec is not readable: %w", err)
	}
	return s, nil
}

// Faults are what is wrong with a spec that its schema cannot say.
func (s Spec) Faults() check.Faults {
	var faults check.Faults
	add := func(path, hint, format string, args ...any) {
		faults = append(faults, check.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: check.Schema})
	}
	urls := map[string]string{"/authorize_url": s.Authorize, "/token_url": s.Token, "/revoke_url": s.Revoke}
	if s.Account != nil {
		urls["/account/url"] = s.Account.URL
		if !s.Reaches(s.Account.URL) {
			add("/account/url", "add its origin to origins", "the token is sent to %s, which is none of the origins", originOf(s.Account.URL))
		}
	}
	for _, path := range []string{"/account/url", "/authorize_url", "/revoke_url", "/token_url"} {
		if at := urls[path]; at != "" && !safe(at) {
			add(path, "write https://…", "the address is none of https; plain http is for an address written out of one's own network")
		}
	}
	for i, o := range s.Origins {
		if originOf(o) != o {
			add(fmt.Sprintf("/origins/%d", i), "write https://api.example.org, without a path", "%q is no origin", o)
		} else if !safe(o) {
			add(fmt.Sprintf("/origins/%d", i), "write https://…", "a token would go over plain http")
		}
	}
	for name := range s.Params {
		if slices.Contains([]string{"client_id", "redirect_uri", "response_type", "state", "scope", "code_challenge", "code_challenge_method"}, name) {
			add("/params/"+name, "leave it out", "%s is written by the program", name)
		}
	}
	for name := range s.Headers {
		if l := strings.ToLower(name); l == "authorization" || l == "host" || l == "cookie" || l == "content-length" {
			add("/headers/"+name, "leave it out", "the header %s is not written here", name)
		}
	}
	return faults
}

// safe reports whether a secret may be sent to an address: over https, or to an
// address of an own network that is written out, which the dialler judges.
func safe(at string) bool {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	literal := strings.Contains(host, ":") || host != "" && strings.Trim(host, "0123456789.") == ""
	return u.Scheme == "https" || u.Scheme == "http" && literal
}

// originOf is the scheme and host of an address.
func originOf(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return ""
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host)
}

// Reaches reports whether a token of this connection may go to an address.
func (s Spec) Reaches(at string) bool {
	origin := originOf(at)
	return origin != "" && slices.Contains(s.Origins, origin)
}

// client is how a server knows this installation.
type client struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

// clientOf reads what is kept as a client's secret: the secret alone, or both.
func (s Spec) clientOf(kept string) client {
	var c client
	if json.Unmarshal([]byte(kept), &c) != nil {
		c = client{Secret: kept}
	}
	if c.ID == "" {
		c.ID = s.ClientID
	}
	return c
}

func (s Spec) proves() bool { return s.PKCE == nil || *s.PKCE }

func (s Spec) config(c client, redirect string) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if s.Basic {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: redirect, Scopes: s.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: s.Authorize, TokenURL: s.Token, AuthStyle: style},
	}
}

// notConfigured is what is told where an administrator has something to do first.
func notConfigured(format string, args ...any) error {
	return fault.New(fault.Internal, format, args...).With(map[string]any{"reason": fault.NotConfigured})
}
