package authserver

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Request is what a client asks a person for, as its parameters say.
type Request struct {
	ClientID, Redirect, ResponseType, Challenge, Method, Resource, Scope, State string
}

// Parameters of a Request, of which none may be said twice (RFC 6749, 3.1).
var Parameters = []string{"client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "resource", "scope", "state"}

// Asked is a Request that holds.
type Asked struct {
	Client    Client
	Redirect  string
	Challenge string
	Scopes    []string // of those offered, in their order
	State     string
}

var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Check says what a client asks for at a resource, which offers some scopes. No error
// is for the client: where it would be sent is not known to be its own until a person
// has seen it, so nobody is sent anywhere before (RFC 9700, 4.11.2).
func (c *Clients) Check(ctx context.Context, r Request, resource string, offered []string) (Asked, error) {
	client, err := c.Client(ctx, r.ClientID)
	if err != nil {
		return Asked{}, err
	}
	redirect := r.Redirect
	if redirect == "" && len(client.Redirects) == 1 {
		redirect = client.Redirects[0]
	}
	switch {
	case !slices.ContainsFunc(client.Redirects, func(known string) bool { return sameRedirect(known, redirect) }):
		return Asked{}, refused(InvalidRequest, "The client has not said that it is sent back to this redirect_uri, so nobody is sent there.")
	case r.ResponseType != "code":
		return Asked{}, refused(NoResponseType, "The only response_type here is code.")
	case r.Method != "S256" || !challenge.MatchString(r.Challenge):
		return Asked{}, refused(InvalidRequest, "A client proves itself by PKCE here: code_challenge with code_challenge_method S256.")
	case r.Resource != resource:
		return Asked{}, refused(InvalidTarget, "What is asked for must be the resource %s.", resource)
	case len(r.State) > maxState:
		return Asked{}, refused(InvalidRequest, "The state is longer than %d bytes.", maxState)
	}
	scopes := offered
	if asked := strings.Fields(r.Scope); len(asked) > 0 {
		// Clients name scopes that others have, such as offline_access; what is not
		// offered is not given.
		scopes = slices.DeleteFunc(slices.Clone(offered), func(s string) bool { return !slices.Contains(asked, s) })
	}
	if len(scopes) == 0 {
		return Asked{}, refused(InvalidScope, "None of the scopes is one of %s.", strings.Join(offered, ", "))
	}
	return Asked{Client: client, Redirect: redirect, Challenge: r.Challenge, Scopes: scopes, State: r.State}, nil
}

// Where a code is sent, for the person who decides.
const (
	ToSite     = "site"     // a host of the web
	ToComputer = "computer" // the person's own
	ToApp      = "app"      // whichever has claimed a scheme there
)

// Where is where a person would be sent, and its host, or its scheme.
func (a Asked) Where() (kind, host string) {
	u, err := url.Parse(a.Redirect)
	switch {
	case err != nil: // it was parsed before
		return ToSite, a.Redirect
	case u.Scheme == "http":
		return ToComputer, u.Host
	case u.Scheme == "https":
		return ToSite, u.Host
	}
	return ToApp, u.Scheme
}

// Back is where the person is sent with an answer.
func (a Asked) Back(issuer string, answer url.Values) string {
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return issuer // never: it was parsed before
	}
	q := u.Query()
	for name, values := range answer {
		q[name] = values
	}
	if a.State != "" {
		q.Set("state", a.State)
	}
	q.Set("iss", issuer) // RFC 9207
	u.RawQuery = q.Encode()
	return u.String()
}

// checkRedirect refuses where no client may be sent: what is neither https, nor the
// person's own computer, nor an app by a scheme of its own (RFC 8252, 7).
func checkRedirect(redirect string) error {
	u, err := url.Parse(redirect)
	if err != nil || len(redirect) > maxAddress || !plainASCII(redirect) || u.User != nil || strings.Contains(redirect, "#") {
		return refused(InvalidRedirect, "A redirect_uri is an address of at most %d signs of ASCII, without a user and a fragment.", maxAddress)
	}
	switch {
	case u.Scheme == "https" && u.Hostname() != "", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Opaque == "" && appScheme(u):
		return nil
	}
	return refused(InvalidRedirect, "A redirect_uri is https, or http at 127.0.0.1, [::1] or localhost, or of an app's own scheme: com.example.app:/back, or app://host/back.")
}

// appScheme reports whether an address is one that an app claims for itself. The RFC
// wants a reversed domain, with a dot; editors use their bare name, as in
// cursor://anysphere.cursor-mcp/oauth/callback. Such a one has to name a host, and to be
// none that a browser, the system or any web page that asks for it acts on: there
// the code would be run, written somewhere, or told to a stranger.
func appScheme(u *url.URL) bool {
	if strings.Contains(u.Scheme, ".") {
		return true
	}
	return u.Scheme != "" && u.Host != "" && !slices.Contains(takenSchemes, u.Scheme) &&
		!slices.ContainsFunc(takenPrefixes, func(p string) bool { return strings.HasPrefix(u.Scheme, p) })
}

// takenSchemes are schemes without a dot that are no app's own: those that browsers
// act on, those the system hands to whatever serves them, and those that a web page
// may register itself for (HTML, 8.9.1.4).
var takenSchemes = []string{
	"http", "https", "ws", "wss", "ftp", "ftps", "sftp", "file", "data", "blob", "filesystem", "about", "javascript", "vbscript", "livescript", "mocha",
	"view-source", "jar", "resource", "res", "chrome", "edge", "brave", "opera", "vivaldi", "moz", "content", "intent", "android-app", "ios-app", "itms", "itms-apps", "itms-services",
	"mailto", "tel", "sms", "smsto", "mms", "callto", "facetime", "sip", "sips", "xmpp", "irc", "ircs", "im", "matrix", "news", "nntp", "geo", "maps", "magnet", "bitcoin", "ethereum",
	"openpgp4fpr", "urn", "wtai", "webcal", "caldav", "carddav", "feed", "rss", "cid", "mid", "ssh", "telnet", "rlogin", "tn3270", "smb", "cifs", "nfs", "afp", "dav", "davs", "ldap", "ldaps",
	"rdp", "vnc", "gopher", "dict", "tftp", "git", "svn", "jdbc", "odbc", "shell", "search", "hcp", "help", "mk", "mhtml", "its", "local", "localhost", "applescript", "prefs", "vscode-file", "vscode-webview",
}

// takenPrefixes begin families of such schemes.
var takenPrefixes = []string{"ms-", "web+", "ext+", "chrome-", "moz-", "safari-", "search-", "x-apple", "x-man"}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback() && a.Zone() == ""
}

// sameRedirect compares as they are written. Of a person's own computer the port may be
// another each time: an app takes one that is free (RFC 8252, 7.3).
func sameRedirect(known, redirect string) bool {
	if known == redirect {
		return true
	}
	k, err := url.Parse(known)
	r, bad := url.Parse(redirect)
	if err != nil || bad != nil || k.Scheme != "http" || !loopback(k.Hostname()) || checkRedirect(redirect) != nil {
		return false
	}
	return withoutPort(k) == withoutPort(r)
}

func withoutPort(u *url.URL) string {
	bare := *u
	bare.Host = net.JoinHostPort(u.Hostname(), "0")
	return bare.String()
}
