package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"liminal/internal/identity"
)

// maxAnswer bounds an answer of GitHub's API, in bytes.
const maxAnswer = 1 << 20

// gitHub is GitHub, or a GitHub Enterprise server: OAuth 2 with an API of its
// own instead of ID tokens.
type gitHub struct {
	client Client
	http   *http.Client
}

func (*gitHub) issuer() string { return "" }

func (g *gitHub) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, g.http)
}

func (g *gitHub) config(context.Context) (*oauth2.Config, error) {
	return &oauth2.Config{
		ClientID: g.client.ID, ClientSecret: string(g.client.Secret), Scopes: g.client.Scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: g.client.Issuer + "/login/oauth/authorize", TokenURL: g.client.Issuer + "/login/oauth/access_token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}, nil
}

// person asks the API: the number of an account never changes, its login may.
func (g *gitHub) person(ctx context.Context, token *oauth2.Token, _ string) (identity.External, error) {
	var u struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Name  string `json:"name"`
	}
	if err := g.get(ctx, token, "/user", &u); err != nil {
		return identity.External{}, err
	}
	if u.ID <= 0 {
		return identity.External{}, untrue(errSubject)
	}
	who := identity.External{UID: strconv.FormatInt(u.ID, 10), Handle: u.Name}
	if who.Handle == "" {
		who.Handle = u.Login
	}
	var err error
	who.Email, who.EmailVerified, err = g.email(ctx, token)
	return who, err
}

// email is the primary address: the one of a profile may be anybody's.
func (g *gitHub) email(ctx context.Context, token *oauth2.Token) (address string, verified bool, err error) {
	var list []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := g.get(ctx, token, "/user/emails", &list); err != nil {
		return "", false, err
	}
	for _, e := range list {
		if e.Primary {
			return e.Email, e.Verified, nil
		}
	}
	return "", false, nil
}

func (g *gitHub) get(ctx context.Context, token *oauth2.Token, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.client.API+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	r.Header.Set("User-Agent", "liminal")
	token.SetAuthHeader(r)
	resp, err := g.http.Do(r)
	if err != nil {
		return away(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return away(fmt.Errorf("%s: status %d", strings.TrimPrefix(path, "/"), resp.StatusCode))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return away(err)
	}
	return nil
}
