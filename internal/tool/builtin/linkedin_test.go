package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/webaccess"
)

// connected is an account that is always taken.
type connected struct{}

func (connected) Access(context.Context, identity.Viewer, string, string) (connect.Access, error) {
	return connect.Access{Token: "token", AccountID: "urn:li:person:a_b", Title: "LinkedIn", Headers: map[string]string{"LinkedIn-Version": "202605"}}, nil
}

func (c connected) Renew(ctx context.Context, v identity.Viewer, name string, _ connect.Access) (connect.Access, error) {
	return c.Access(ctx, v, name, "")
}

func (connected) Refuse(context.Context, identity.Viewer, string, connect.Access) error {
	return fault.New(fault.Conflict, "connect again")
}

// network is LinkedIn's API as far as the pack's tools ask it.
type network struct {
	*httptest.Server
	got    *http.Request
	body   map[string]any
	status int
}

func openNetwork(t *testing.T) *network {
	n := &network{status: http.StatusCreated}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		n.got, n.body = r, nil
		_ = json.Unmarshal(raw, &n.body) // a GET has none
		w.Header().Set("x-restli-id", "77")
		w.WriteHeader(n.status)
		_, _ = io.WriteString(w, `{"elements":[{"id":"1","message":{"text":"Nice"}}],"message":"the server's own words"}`)
	}))
	t.Cleanup(n.Close)
	return n
}

// call calls a tool of the pack as it ships, but for its host.
func (n *network) call(t *testing.T, name, locale string, inputs map[string]any) (map[string]any, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../artifacts/packs/linkedin/tool.spec", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := webaccess.New(webaccess.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	box := boxWith(t, builtin.Parts{Servers: client, Connections: connected{}})
	spec := specFrom(t, strings.ReplaceAll(string(raw), "https://api.linkedin.com", n.URL))
	return box.Call(t.Context(), spec, &tool.Call{Viewer: ann, Scope: tool.Scope{Locale: locale}, Inputs: inputs})
}

// What each of the pack's tools asks of LinkedIn, and what it makes of the answer.
//
// Requirements: CLAUDE-06 (the four linkedin tools), CLAUDE-12 (linkedin_post)
func TestTheToolsOfThePackAskLinkedInAsItsAPIIs(t *testing.T) {
	t.Parallel()
	const post, comment = "urn:li:activity:6544", "urn:li:comment:(urn:li:activity:6544,77)"
	for name, c := range map[string]struct {
		inputs map[string]any
		method string
		path   string
		body   string
		out    string
	}{
		"linkedin_post": {
			map[string]any{"text": "Ab (jetzt)"}, "POST", "/rest/posts",
			`{"author":"urn:li:person:a_b","commentary":"Ab \\(jetzt\\)","distribution":{"feedDistribution":"MAIN_FEED","targetEntities":[],"thirdPartyDistributionChannels":[]},"isReshareDisabledByAuthor":false,"lifecycleState":"PUBLISHED","visibility":"PUBLIC"}`,
			`{"text":"Posted to LinkedIn: 77"}`,
		},
		"linkedin_read_comments": {
			map[string]any{"post_id": post}, "GET", "/rest/socialActions/urn%3Ali%3Aactivity%3A6544/comments", `null`,
			`{"comments":[{"id":"1","message":{"text":"Nice"}}]}`,
		},
		"linkedin_post_comment": {
			map[string]any{"post_id": post, "text": "So it is"}, "POST", "/rest/socialActions/urn%3Ali%3Aactivity%3A6544/comments",
			`{"actor":"urn:li:person:a_b","message":{"text":"So it is"},"object":"urn:li:activity:6544"}`,
			`{"text":"Commented on LinkedIn: 77"}`,
		},
		"linkedin_reply_comment": {
			map[string]any{"post_id": post, "comment_id": comment, "text": "Thank you"}, "POST",
			"/rest/socialActions/urn%3Ali%3Acomment%3A%28urn%3Ali%3Aactivity%3A6544%2C77%29/comments",
			`{"actor":"urn:li:person:a_b","message":{"text":"Thank you"},"object":"urn:li:activity:6544","parentComment":"urn:li:comment:(urn:li:activity:6544,77)"}`,
			`{"text":"Replied on LinkedIn: 77"}`,
		},
	} {
		n := openNetwork(t)
		out, err := n.call(t, name, "en", c.inputs)
		if err != nil || asJSON(t, out) != c.out {
			t.Errorf("%s gives %s, %v", name, asJSON(t, out), err)
		}
		if n.got == nil {
			t.Fatalf("%s asked nobody: %v", name, err)
		}
		if n.got.Method != c.method || n.got.URL.EscapedPath() != c.path || n.got.Header.Get("Authorization") != "Bearer token" || n.got.Header.Get("LinkedIn-Version") == "" {
			t.Errorf("%s asks %s %s with %v", name, n.got.Method, n.got.URL.EscapedPath(), n.got.Header)
		}
		if got := asJSON(t, n.body); got != c.body {
			t.Errorf("%s sends %s", name, got)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A refusal is told in the language of the person, in the pack's words and not in
// the server's; that somebody wants to try again later is told by its status too.
//
// Requirements: CLAUDE-06 (the four linkedin tools), TOOL-16
func TestARefusalOfLinkedInIsToldInTheLanguageOfThePerson(t *testing.T) {
	t.Parallel()
	inputs := map[string]any{"post_id": "urn:li:share:1", "comment_id": "urn:li:comment:(urn:li:activity:1,2)", "text": "t"}
	for name, statuses := range map[string]map[int]map[string]string{
		"linkedin_post":          {403: {"de-AT": "nicht erlaubt (w_member_social)", "en": "has not granted this application w_member_social"}, 429: {"de": "nichts mehr an (429)", "en": "no more for now (429)"}},
		"linkedin_read_comments": {403: {"de": "nicht erlaubt (r_member_social)", "en": "has not granted this application r_member_social"}, 404: {"de": "kennt diesen Beitrag nicht", "en": "knows no such post"}},
		"linkedin_post_comment":  {403: {"de": "nicht erlaubt (w_member_social)", "en": "w_member_social"}, 404: {"de": "kennt diesen Beitrag nicht", "en": "knows no such post"}},
		"linkedin_reply_comment": {404: {"de": "Beitrag oder Kommentar nicht", "en": "no such post or comment"}, 429: {"de": "nichts mehr an", "en": "try again tomorrow"}},
	} {
		for status, told := range statuses {
			for locale, want := range told {
				n := openNetwork(t)
				n.status = status
				given := map[string]any{}
				for _, input := range map[string][]string{
					"linkedin_post": {"text"}, "linkedin_read_comments": {"post_id"}, "linkedin_post_comment": {"post_id", "text"}, "linkedin_reply_comment": {"post_id", "comment_id", "text"},
				}[name] {
					given[input] = inputs[input]
				}
				_, err := n.call(t, name, locale, given)
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "own words") {
					t.Errorf("%s, %d, %s: %v", name, status, locale, err)
				}
				if status == http.StatusTooManyRequests && !errors.Is(err, fault.RateLimited) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}
