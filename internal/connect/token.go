package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Again is the reason of a fault that ends when the person connects their account,
// or connects it again.
const Again = "not_connected"

// where is where a person connects an account.
const where = "Settings → Connections"

// Access is what a request goes along with. It is for the request alone.
type Access struct {
	Token     string
	Headers   map[string]string
	AccountID string
	Title     string // of the connection, for people
	version   int
}

// String keeps a token out of what is printed.
func (Access) String() string { return "access of a connection" }

// GoString is as String.
func (a Access) GoString() string { return a.String() }

// Access gives what a request to an address goes along with, for the viewer. A
// token that has run out is refreshed first.
//
// A person who is not connected, or whose account is refused, gets a Conflict of
// the reason Again that says where to connect; an address that is none of the
// spec's origins is Forbidden.
func (d *Desk) Access(ctx context.Context, v identity.Viewer, name, at string) (Access, error) {
	s, c, err := d.ready(ctx, v, name)
	if err != nil {
		return Access{}, err
	}
	if !s.Reaches(at) {
		return Access{}, fault.New(fault.Forbidden, "The connection %q is for %s, and not for this address.", title(s, name), strings.Join(s.Origins, ", "))
	}
	k, err := d.kept(ctx, v, s, name)
	if err != nil {
		return Access{}, err
	}
	if !k.ExpiresAt.IsZero() && !d.o.Now().Add(early).Before(k.ExpiresAt) {
		if k, err = d.renewed(ctx, v, s, c, k); err != nil {
			return Access{}, err
		}
	}
	return d.access(v, s, k)
}

// Renew gives other access in place of one that the server refused, once: whoever
// is refused again says so with Refuse.
func (d *Desk) Renew(ctx context.Context, v identity.Viewer, name string, old Access) (Access, error) {
	s, c, err := d.ready(ctx, v, name)
	if err != nil {
		return Access{}, err
	}
	k, err := d.kept(ctx, v, s, name)
	if err != nil {
		return Access{}, err
	}
	if k.Version == old.version {
		if k, err = d.renewed(ctx, v, s, c, k); err != nil {
			return Access{}, err
		}
	}
	return d.access(v, s, k)
}

// Refuse keeps that the server takes an access no more, and is the error for it.
func (d *Desk) Refuse(ctx context.Context, v identity.Viewer, name string, old Access) error {
	k, err := d.o.Store.Connection(ctx, v, name)
	if err == nil && k.Version == old.version {
		k.Refused = true
		_, err = d.o.Store.Renew(ctx, v, k)
	}
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return again(old.Title, name)
}

func again(title, name string) error {
	return fault.New(fault.Conflict, "%s does not take your account any more. Connect it again: %s.", title, where).
		With(map[string]any{"reason": Again, "connection": name})
}

// kept is the viewer's connection, if it can be used.
func (d *Desk) kept(ctx context.Context, v identity.Viewer, s Spec, name string) (Kept, error) {
	k, err := d.o.Store.Connection(ctx, v, name)
	switch {
	case errors.Is(err, fault.NotFound):
		return k, fault.New(fault.Conflict, "You have connected no account of %s. Connect one: %s.", title(s, name), where).
			With(map[string]any{"reason": Again, "connection": name})
	case err != nil:
		return k, err
	case k.Refused:
		return k, again(title(s, name), name)
	}
	return k, nil
}

func (d *Desk) access(v identity.Viewer, s Spec, k Kept) (Access, error) {
	t, err := d.open(v, k)
	return Access{Token: t.Access, Headers: s.Headers, AccountID: k.AccountID, Title: title(s, k.Name), version: k.Version}, err
}

// renewed refreshes a token. Of several who want it at once here, one does; of
// several processes, one wins, and the others take what it kept: a server may give
// each refresh token for one use.
func (d *Desk) renewed(ctx context.Context, v identity.Viewer, s Spec, c client, k Kept) (Kept, error) {
	id := sealedFor(v, k.Name)
	d.mu.Lock()
	under, busy := d.renews[id]
	if !busy {
		under = &renewal{done: make(chan struct{})}
		d.renews[id] = under
	}
	d.mu.Unlock()
	if busy {
		select {
		case <-under.done:
		case <-ctx.Done():
			return k, ctx.Err()
		}
		if under.err != nil {
			return k, under.err
		}
		return d.kept(ctx, v, s, k.Name)
	}
	// Whoever gives up must not leave a refresh token that is used up.
	under.err = d.renew(context.WithoutCancel(ctx), v, s, c, k)
	d.mu.Lock()
	delete(d.renews, id)
	d.mu.Unlock()
	close(under.done)
	if under.err != nil {
		return k, under.err
	}
	return d.kept(ctx, v, s, k.Name)
}

func (d *Desk) renew(ctx context.Context, v identity.Viewer, s Spec, c client, k Kept) error {
	now, err := d.o.Store.Connection(ctx, v, k.Name)
	if err != nil || now.Version != k.Version {
		return err // somebody was first, between the look at the token and this one
	}
	t, err := d.open(v, k)
	if err != nil {
		return err
	}
	if t.Refresh == "" {
		return d.gaveUp(ctx, v, s, k)
	}
	within, cancel := d.reach(ctx)
	defer cancel()
	fresh, err := s.config(c, "").TokenSource(within, &oauth2.Token{RefreshToken: t.Refresh}).Token()
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal(answer) {
		now, err := d.o.Store.Connection(ctx, v, k.Name)
		if err == nil && now.Version != k.Version {
			return nil // another process was first
		}
		return d.gaveUp(ctx, v, s, k)
	}
	if err != nil {
		return d.untraded(err)
	}
	if k.Sealed, err = d.seal(v, k.Name, fresh, t); err != nil {
		return err
	}
	k.ExpiresAt = fresh.Expiry
	_, err = d.o.Store.Renew(ctx, v, k)
	return err
}

// gaveUp keeps that a connection is at its end.
func (d *Desk) gaveUp(ctx context.Context, v identity.Viewer, s Spec, k Kept) error {
	k.Refused = true
	if _, err := d.o.Store.Renew(ctx, v, k); err != nil {
		return err
	}
	return again(title(s, k.Name), k.Name)
}

func refusal(answer *oauth2.RetrieveError) bool {
	status := 0
	if answer.Response != nil {
		status = answer.Response.StatusCode
	}
	return answer.ErrorCode == "invalid_grant" || answer.ErrorCode == "" && (status == http.StatusBadRequest || status == http.StatusUnauthorized)
}

// untraded is why a server gave no token. Its own words may hold one: they go
// nowhere.
func (d *Desk) untraded(err error) error {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		if known, ok := errors.AsType[*fault.Error](err); ok {
			return known // of the guard
		}
		return away(errors.New("no answer from the token endpoint"))
	}
	status := 0
	if answer.Response != nil {
		status = answer.Response.StatusCode
	}
	code := answer.ErrorCode
	if strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		code = "odd"
	}
	cause := fmt.Errorf("token endpoint: status %d, error %q", status, code)
	switch {
	case code == "invalid_client" || code == "unauthorized_client":
		return fault.Wrap(fault.Internal, cause, "The server does not know this installation. An administrator checks the connection's client.").With(map[string]any{"reason": fault.NotConfigured})
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == 0:
		return away(cause)
	}
	return refused("code_refused", cause, "The server does not take the code it gave; codes work once and for a short time. Begin again.")
}

func away(cause error) error {
	return fault.Wrap(fault.Internal, cause, "The server cannot be reached now, or gives no answer that can be used. Try again later.").With(map[string]any{"reason": fault.Upstream})
}

// reach is ctx with the client to reach servers by.
func (d *Desk) reach(ctx context.Context) (context.Context, context.CancelFunc) {
	within, cancel := context.WithTimeout(ctx, timeout)
	return context.WithValue(within, oauth2.HTTPClient, d.o.HTTP), cancel
}

// granted are the scopes of a token: as the server says, else as they were asked for.
func granted(t *oauth2.Token, s Spec) []string {
	said, _ := t.Extra("scope").(string)
	if list := strings.FieldsFunc(said, func(r rune) bool { return r == ' ' || r == ',' }); len(list) > 0 {
		return list
	}
	return s.Scopes
}

// maxAccount bounds what a server says of an account.
const maxAccount = 64 << 10

// whose asks the server whose token it is.
func (d *Desk) whose(ctx context.Context, s Spec, token string) (id, name string, err error) {
	if s.Account == nil {
		return "", "", nil
	}
	if !s.Reaches(s.Account.URL) {
		return "", "", fault.New(fault.Forbidden, "The account of %s is told at an address that is none of its origins.", s.Title)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Account.URL, http.NoBody)
	if err != nil {
		return "", "", away(errors.New("the account's address cannot be read"))
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for k, v := range s.Headers {
		req.Header.Set(k, v)
	}
	res, err := d.o.HTTP.Do(req)
	if err != nil {
		if known, ok := errors.AsType[*fault.Error](err); ok {
			return "", "", known
		}
		return "", "", away(errors.New("no answer from the account endpoint"))
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAccount))
	var said any
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(raw, &said) != nil {
		return "", "", away(fmt.Errorf("account endpoint: status %d", res.StatusCode))
	}
	if id = at(said, s.Account.ID); id == "" {
		return "", "", away(errors.New("the account endpoint says no id"))
	}
	return s.Account.Prefix + id, at(said, s.Account.Name), nil
}

// at is a text or number at a pointer of plain members.
func at(v any, pointer string) string {
	if pointer == "" {
		return ""
	}
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		object, _ := v.(map[string]any)
		v = object[step]
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// Info is a connection.spec as a person sees it, with theirs.
type Info struct {
	Name, Title string
	Configured  bool  // a person can connect
	Mine        *Kept // nil: not connected; without what is sealed
}

// Look is one of them.
func (d *Desk) Look(ctx context.Context, v identity.Viewer, name string, s Spec, mine []Kept) (Info, error) {
	info := Info{Name: name, Title: title(s, name)}
	_, _, err := d.ready(ctx, v, name)
	if err != nil && fault.Reason(err) != fault.NotConfigured && !errors.Is(err, fault.NotFound) { // it may have gone meanwhile
		return info, err
	}
	info.Configured = err == nil
	for _, k := range mine {
		if k.Name == name {
			k.Sealed = nil
			info.Mine = &k
		}
	}
	return info, nil
}

// Mine are the viewer's connections, without what is sealed.
func (d *Desk) Mine(ctx context.Context, v identity.Viewer) ([]Kept, error) {
	list, err := d.o.Store.Connections(ctx, v)
	for i := range list {
		list[i].Sealed = nil
	}
	return list, err
}

// End forgets a connection, and then asks its server to do so too. It is forgotten
// here whatever the server says; told says whether that did.
func (d *Desk) End(ctx context.Context, v identity.Viewer, name string) (told bool, err error) {
	k, err := d.o.Store.Disconnect(ctx, v, name)
	if err != nil {
		return false, err
	}
	s, c, err := d.ready(ctx, v, name)
	if err != nil || s.Revoke == "" {
		return false, nil //nolint:nilerr // without a spec there is nobody to tell
	}
	t, err := d.open(v, k)
	if err != nil {
		return false, nil //nolint:nilerr // it is gone here
	}
	told = true
	for hint, token := range map[string]string{"refresh_token": t.Refresh, "access_token": t.Access} {
		if token != "" && !d.revoke(ctx, s, c, token, hint) {
			told = false
		}
	}
	if !told {
		d.o.Logger.WarnContext(ctx, "a server did not take back a token that its person has disconnected; it ends by itself", "connection", name)
	}
	return told, nil
}

func (d *Desk) revoke(ctx context.Context, s Spec, c client, token, hint string) bool {
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	if !s.Basic {
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	}
	req, err := http.NewRequestWithContext(within, http.MethodPost, s.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.Basic {
		req.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	}
	res, err := d.o.HTTP.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode < http.StatusMultipleChoices
}
