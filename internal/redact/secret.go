package redact

import (
	"bytes"
	"slices"
	"strings"
)

// minSecret is the least length of a token without a name before it.
const minSecret = 20

// secrets finds what opens doors: tokens and keys by their shape, and values
// by the name before them.
func secrets(s string) (found []Span) {
	found = append(found, pemKeys(s)...)
	found = append(found, urlPasswords(s)...)
	found = append(found, named(s)...)
	return append(found, tokens(s)...)
}

// pemKeys finds private keys in PEM; one that is cut off goes to the end.
func pemKeys(s string) (found []Span) {
	const begin, private, end = "-----BEGIN ", "PRIVATE KEY-----", "-----END "
	for i := 0; ; {
		next := strings.Index(s[i:], begin)
		if next < 0 {
			return found
		}
		i += next
		line := s[i:min(len(s), i+64)]
		if !strings.Contains(line, private) {
			i += len(begin)
			continue
		}
		stop := len(s)
		if e := strings.Index(s[i:], end); e >= 0 {
			stop = i + e
			if tail := strings.Index(s[stop:], private); tail >= 0 && tail < 64 {
				stop += tail + len(private)
			}
		}
		found = append(found, Span{i, stop, Key})
		i = stop
	}
}

// urlPasswords finds the password of scheme://user:password@host.
func urlPasswords(s string) (found []Span) {
	for i := 0; ; {
		next := strings.Index(s[i:], "://")
		if next < 0 {
			return found
		}
		i += next + 3
		colon, last := -1, -1
		for j := i; j < len(s) && s[j] > ' ' && strings.IndexByte(`/?#"<>`, s[j]) < 0; j++ {
			switch {
			case s[j] == ':' && colon < 0:
				colon = j
			case s[j] == '@':
				last = j
			}
		}
		if colon >= 0 && last > colon+1 {
			found = append(found, Span{colon + 1, last, Password})
		}
	}
}

// names are keys whose value is secret, in lower case without _ and -.
var names = map[string]Kind{
	"pwd": Password, "passwort": Password,
	"apikey": Key, "accesskey": Key, "privatekey": Key, "secretkey": Key, "xapikey": Key,
	"token": Token, "accesstoken": Token, "refreshtoken": Token, "idtoken": Token, "authtoken": Token, "sessiontoken": Token,
	"resettoken": Token, "mfatoken": Token, "csrftoken": Token, "bearertoken": Token,
	"authorization": Token, "proxyauthorization": Token, "cookie": Token, "setcookie": Token, "liminalrefresh": Token,
	"recoverycode": Key, "totp": Key, "otp": Key,
	"signature": Signature, "sig": Signature, "xamzsignature": Signature, "xgoogsignature": Signature,
}

// endings make any key secret that ends so: new_password, client_secret.
var endings = []struct {
	text string
	kind Kind
}{{"password", Password}, {"passwd", Password}, {"passphrase", Password}, {"secret", Key}, {"ticket", Token}}

const maxName = 40

// KindOf returns the kind of secret that a value under this key is: of a log
// attribute, a header or a field.
func KindOf(key string) (Kind, bool) {
	if len(key) > maxName {
		return "", false
	}
	var room [maxName]byte
	name := room[:0]
	for i := range len(key) {
		switch c := key[i]; {
		case c == '_' || c == '-':
		case isUpper(c):
			name = append(name, c+'a'-'A')
		default:
			name = append(name, c)
		}
	}
	if kind, ok := names[string(name)]; ok {
		return kind, true
	}
	for _, e := range endings {
		if bytes.HasSuffix(name, []byte(e.text)) {
			return e.kind, true
		}
	}
	return "", false
}

// named finds key=value and "key":"value" where the key says that the value is
// secret, and the credentials of an Authorization header. In prose, where a
// colon follows the word "password", nothing is.
func named(s string) (found []Span) {
	for i := 1; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' || at(s, i+1) == '=' {
			continue
		}
		key, quoted := keyBefore(s, i)
		kind, ok := KindOf(key)
		header := ok && isHeader(key)
		if !ok || s[i] == ':' && !quoted && !header {
			continue
		}
		if from, to := value(s, i+1, header); to > from {
			found = append(found, Span{from, to, kind})
			i = to - 1
		}
	}
	return found
}

// keyBefore is the name that ends at i, and whether it stands in quotes.
func keyBefore(s string, i int) (key string, quoted bool) {
	stop := i
	quoted = s[i-1] == '"' || s[i-1] == '\''
	if quoted || s[i] == '=' && s[i-1] == ' ' {
		stop--
	}
	start := stop
	for start > 0 && stop-start <= maxName && (isAlpha(s[start-1]) || s[start-1] == '_' || s[start-1] == '-') {
		start--
	}
	return s[start:stop], quoted
}

// isHeader: the value of these goes to the end of its line.
func isHeader(key string) bool {
	key = strings.ToLower(key)
	return strings.HasSuffix(key, "authorization") || strings.HasSuffix(key, "cookie")
}

// value returns the bounds of the value that begins at i: a quoted one, a
// header's line, or up to what ends a field.
func value(s string, i int, header bool) (from, to int) {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	stops := " \t\r\n&;,\"'<>)}"
	if quote := at(s, i); quote == '"' || quote == '\'' {
		i++
		stops = string(quote) + "\r\n"
	} else if header {
		stops = "\r\n\""
	}
	end := strings.IndexAny(s[i:], stops)
	if end < 0 {
		return i, len(s)
	}
	return i, i + end
}

// prefixes are how well-known keys begin.
var prefixes = []string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "pk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
	"xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "SG.", "npm_", "dop_v1_", "ya29.", "whsec_",
}

// tokens finds JWTs, keys with a known prefix, refresh tokens, and whatever
// follows the word Bearer.
func tokens(s string) (found []Span) {
	for i := 0; i < len(s); i++ {
		if !isTokenChar(s[i]) {
			continue
		}
		end := i
		for end < len(s) && isTokenChar(s[end]) {
			end++
		}
		word := s[i:end]
		switch {
		case bearer(s, i):
			end = i + len(credential(s[i:]))
			found = append(found, Span{i, end, Token})
		case len(word) < minSecret || !mixed(word):
		case isJWT(word) || isRefresh(word):
			found = append(found, Span{i, end, Token})
		case prefixed(word):
			found = append(found, Span{i, end, Key})
		}
		i = end
	}
	return found
}

func isTokenChar(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '_' || c == '.' || c == '~'
}

func mixed(word string) bool { return strings.ContainsAny(word, "0123456789") }

func isJWT(word string) bool {
	if !strings.HasPrefix(word, "eyJ") {
		return false
	}
	head, rest, ok := strings.Cut(word, ".")
	payload, _, _ := strings.Cut(rest, ".")
	return ok && len(head) >= 10 && len(payload) >= 8
}

// isRefresh: a session's UUID, a full stop, and random letters and digits in
// base32, as our refresh tokens and links have them.
func isRefresh(word string) bool {
	head, tail, ok := strings.Cut(word, ".")
	if !ok || len(head) != 36 || strings.Count(head, "-") != 4 || len(tail) < 20 {
		return false
	}
	for i := range len(tail) {
		if !isUpper(tail[i]) && !isDigit(tail[i]) {
			return false
		}
	}
	return true
}

func prefixed(word string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(word, p) })
}

// bearer reports whether the word before i is the name of the scheme and what
// follows is no prose: prose has no digits in so long a word.
func bearer(s string, i int) bool {
	const scheme = "bearer "
	if i < len(scheme) || !strings.EqualFold(s[i-len(scheme):i], scheme) {
		return false
	}
	c := credential(s[i:])
	return len(c) >= 12 && mixed(c)
}

// credential is s up to what ends a header's value.
func credential(s string) string {
	if end := strings.IndexAny(s, " \t\r\n\"',;"); end >= 0 {
		return s[:end]
	}
	return s
}
