package authserver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/inproc"
)

// site is one document, which counts how often it is read.
type site struct {
	text  string
	reads int
	err   error
}

func (s *site) Document(_ context.Context, _ string, _ int64) ([]byte, error) {
	s.reads++
	return []byte(s.text), s.err
}

const address = "https://client.example/client.json"

func documented(s *site) *Clients {
	return New(Options{Documents: s, Cache: inproc.NewCache(0)})
}

func TestADocumentIsReadOnceForManyWhoAsk(t *testing.T) {
	t.Parallel()
	s := &site{text: `{"client_id":"` + address + `","client_name":"` + strings.Repeat("x", 200) + `","redirect_uris":["http://localhost/"]}`}
	c := documented(s)
	for range 3 {
		got, err := c.Client(t.Context(), address)
		if err != nil || got.ID != address || len(got.Name) != maxName || got.Document() != "client.example" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if s.reads != 1 {
		t.Errorf("it was read %d times", s.reads)
	}
	broken := &site{err: errors.New("dial tcp 10.0.0.7: secret")}
	c = documented(broken)
	for range 3 {
		if _, err := c.Client(t.Context(), address); fault.CodeOf(err) != fault.Invalid || fault.Reason(err) != InvalidClient || strings.Contains(err.Error(), "10.0.0.7") {
			t.Errorf("%v", err)
		}
	}
	if broken.reads != 1 {
		t.Errorf("what is broken was read %d times", broken.reads)
	}
}

// Strangers name what is read here: not more than some at a time.
func TestDocumentsThatHangDoNotHoldUpMoreThanSome(t *testing.T) {
	t.Parallel()
	c := documented(&site{})
	for range documentsAtOne {
		c.reading <- struct{}{}
	}
	if _, err := c.Client(t.Context(), address); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("%v", err)
	}
	<-c.reading
	if _, err := c.Client(t.Context(), address); fault.Reason(err) != InvalidClient { // it is no document, and was read
		t.Errorf("%v", err)
	}
}

func TestAnAddressOfADocumentIsWrittenInOneWay(t *testing.T) {
	t.Parallel()
	s := &site{}
	c := documented(s)
	for _, wrong := range []string{
		"http://client.example/c", "https://client.example", "https://client.example/", "https://client.example/c#x", "https://client.example/c#", "https://client.example/c?x=1", "https://client.example/c?",
		"https://me@client.example/c", "https://client.example/a/../c", "https://client.example/./c", "https://client.example/%2e%2e/c", "https://cliént.example/c",
		"https://client.example/" + strings.Repeat("c", maxAddress), "HTTPS://client.example/c", "client.example/c",
	} {
		if _, err := c.Client(t.Context(), wrong); fault.Reason(err) != InvalidClient {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if s.reads != 0 {
		t.Errorf("%d were read", s.reads)
	}
}

func TestANameIsShownWithoutSignsThatNobodySees(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Claude":                        "Claude",
		"  Two\twords\n and\u00a0more ": "Two words and more",
		"Ban\u202ek\u200b\x00\ufeff":    "Bank",
		strings.Repeat("ä", 100):        strings.Repeat("ä", maxName),
		"\u2066":                        "",
	} {
		if got := claimed(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// Editors are sent back by schemes that are their bare names. What else acts on an
// address would run the code, keep it or tell it to a stranger.
//
// Requirements: SAFE-10
func TestAnAppIsSentBackByASchemeOfItsOwn(t *testing.T) {
	t.Parallel()
	for redirect, scheme := range map[string]string{
		"cursor://anysphere.cursor-mcp/oauth/callback": "cursor", "vscode://vscode.github-authentication/did-authenticate": "vscode", "vscode-insiders://x/y": "vscode-insiders",
		"windsurf://codeium.windsurf/back?x=1": "windsurf", "Zed://agent/back": "zed", "com.example.app:/back": "com.example.app", "com.example.app://host": "com.example.app",
	} {
		if err := checkRedirect(redirect); err != nil {
			t.Errorf("%s: %v", redirect, err)
		}
		if kind, said := (Asked{Redirect: redirect}).Where(); kind != ToApp || said != scheme {
			t.Errorf("%s is shown as %s %s", redirect, kind, said)
		}
	}
	for _, redirect := range []string{
		"//host/", "cursor:/back", "cursor:back", "cursor:///back", "cursor://me@host/back", "cursor://host/#x",
		"javascript://host/%0aalert(1)", "JavaScript://host/", "vbscript://host/", "data://host/", "file://host/share", "blob://host/", "view-source://x/", "about://x/", "intent://x/",
		"ftp://host/", "ws://host/", "smb://host/share", "ssh://host/", "mailto://x/", "tel://x/", "sms://x/", "web+app://host/", "ext+app://host/", "ms-msdt://x/", "ms-word://x/", "search-ms://x/",
		"chrome://settings/", "chrome-extension://abc/x", "moz-extension://abc/x", "android-app://x/", "itms-services://x/", "matrix://host/", "http://host/",
	} {
		if err := checkRedirect(redirect); fault.Reason(err) != InvalidRedirect {
			t.Errorf("%s: %v", redirect, err)
		}
	}
}
