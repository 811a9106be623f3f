package redact

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// found are texts with what must become of them. Numbers are those that
// standards reserve for examples.
var found = []struct{ text, want string }{
	{"mail ann.lee+x@example.org now", "mail [email] now"},
	{"<bob@mail.example.co.uk>, (carol@example.de).", "<[email]>, ([email])."},
	{"jürgen@münchen.example", "[email]"},
	{"call +49 30 901820 today", "call [phone] today"},
	{"+1 (415) 555-0132", "[phone]"},
	{"+4915112345678", "[phone]"},
	{"0049 30 901820", "[phone]"},
	{"030 901820-12", "[phone]"},
	{"(030) 90182012", "[phone]"},
	{"0170/1234567, or 0170-1234567", "[phone], or [phone]"},
	{"01 23 45 67 89", "[phone]"},
	{"415-555-0132 and (415) 555-0132 and 1-800-555-0199", "[phone] and [phone] and [phone]"},
	{"Tel.: 5550132, phone=4155550132", "Tel.: [phone], phone=[phone]"},
	{"card 4111 1111 1111 1111.", "card [card]."},
	{"4111111111111111 5500-0000-0000-0004 3782 822463 10005", "[card] [card] [card]"},
	{"IBAN DE89 3704 0044 0532 0130 00, NL91ABNA0417164300", "IBAN [iban], [iban]"},
	{"Authorization: Bearer abcdef0123456789/xyz==", "Authorization: [token]"},
	{"got bearer abcdef0123456789, refused", "got bearer [token], refused"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[token]"},
	{"key ghp_0123456789abcdefghij0123", "key [key]"},
	{"sk-ant-api03-0123456789abcdef", "[key]"},
	{"AKIAIOSFODNN7EXAMPLE", "[key]"},
	{"postgres://ann:s3cr3t@db.example.org:5432/x?sslmode=disable", "postgres://ann:[password]@db.example.org:5432/x?sslmode=disable"},
	{"redis://:hunter2@127.0.0.1:6379/0", "redis://:[password]@127.0.0.1:6379/0"},
	{`{"password":"correct horse","n":1}`, `{"password":"[password]","n":1}`},
	{"/v1/files/raw?user=1&path=a&expires=2&signature=abc-DEF_123", "/v1/files/raw?user=1&path=a&expires=2&signature=[signature]"},
	{`password = "correct horse"`, `password = "[password]"`},
	{`{"token":"abc","new_password":"def","recovery_code":"1-2"}`, `{"token":"[token]","new_password":"[password]","recovery_code":"[key]"}`},
	{"host=db password=x1 sslmode=off", "host=db password=[password] sslmode=off"},
	{"0198c2a4-7c1e-7d2a-8f00-0123456789ab.ABCDEFGHIJKLMNOPQRSTUVWXYZ", "[token]"},
	{"Cookie: liminal_refresh=abc; theme=dark", "Cookie: [token]"},
	{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- tail", "[key] tail"},
}

// Requirements: OBS-03, SAFE-08
func TestTextHidesPeopleAndSecrets(t *testing.T) {
	t.Parallel()
	for _, c := range found {
		if got := Text(c.text); got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
		if again := Text(c.want); again != c.want {
			t.Errorf("Text is not stable: %q became %q", c.want, again)
		}
	}
}

// ordinary is prose and technical text in which nothing is to be found.
var ordinary = []string{
	"The meeting is on 2026-11-20 at 10:30, or on 20.11.2026, or 11/20/2026.",
	"Released 1.26.8 after v0.0.0-20250317173921-a4b03ec1a45e and go1.26.8-linux.",
	"id 550e8400-e29b-41d4-a716-446655440000 and 12345678-1234-4234-9234-123456789012",
	"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"commit 4111111 and 9e107d9d372bb6826bd81d3542a419d6",
	"1700000000 seconds, 1700000000000 ms, 1763632583123456789 ns",
	"2026-11-20T15:56:23.123456789+01:00",
	"In 1999 2000 people paid 1.234.567,89 EUR or $1,234,567.89 or +1.234.567.890.",
	"order 4111111111111112 and 1234 5678 9012 3456", // no check digit
	"192.168.0.1:8080, 10.0.0.255 and ::1",
	"pi is 3.14159265358979 and e is 2.718281828459045",
	"Pages 100-200, lines 1000-2000, ratio 16:9, 99.9 % of 12 000 000",
	"ISBN 978-3-16-148410-0, § 18 (3), ISO 13616, RFC 5321",
	"DE00 3704 0044 0532 0130 00 is no account", // wrong check digits
	"go get github.com/labstack/echo/v4@v4.15.4 and pkg@1.2.3",
	"call 3 people, ring 12 times, phone 2026-11-20",
	"The password: must be at least 12 characters. Token: a word.",
	"bearer certificates of the bearer bond",
	"sk-learn-contrib is a project-with-a-long-name",
	"GET /v1/runs/0198c2a4-7c1e-7d2a-8f00-0123456789ab?limit=50&cursor=200",
	"coordinates 52.520008, 13.404954 and 400 500 6000",
	"ssh://host:22/path and https://example.org:443/a@b",
	"max_tokens=4096 input_tokens=17 tokens=12",
	"if token == nil { token := y }, 3 = 3 and code=not_found",
}

func TestTextLeavesOrdinaryTextAlone(t *testing.T) {
	t.Parallel()
	for _, text := range ordinary {
		if got := Text(text); got != text {
			t.Errorf("Text(%q)\n got %q", text, got)
		}
	}
}

// Requirements: OBS-03
func TestPersonalTellsWhatWasWhere(t *testing.T) {
	t.Parallel()
	text := "Ann (ann@example.org, +49 30 901820) paid with 4111 1111 1111 1111; password=x1"
	clean, spans := Personal(text)
	if want := "Ann ([email], [phone]) paid with [card]; password=x1"; clean != want {
		t.Errorf("got %q, want %q", clean, want)
	}
	var kinds []Kind
	for _, p := range spans {
		kinds = append(kinds, p.Kind)
	}
	if !slices.Equal(kinds, []Kind{Email, Phone, Card}) {
		t.Errorf("found %v", kinds)
	}
	if got := text[spans[0].Start:spans[0].End]; got != "ann@example.org" {
		t.Errorf("the first span is %q", got)
	}
}

func TestKindOfKnowsTheNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"password", "Authorization", "refresh_token", "X-Api-Key", "Set-Cookie", "clientSecret", "new_password"} {
		if _, ok := KindOf(key); !ok {
			t.Errorf("%s is not known as a secret", key)
		}
	}
	for _, key := range []string{"tokens", "max_tokens", "path", "secretary", "key", "authority"} {
		if kind, ok := KindOf(key); ok {
			t.Errorf("%s passes for a %s", key, kind)
		}
	}
}

func TestOverlappingFindsLeaveNothingBetween(t *testing.T) {
	t.Parallel()
	got := merged([]Span{{5, 9, Email}, {0, 6, Token}, {9, 12, Phone}})
	if want := []Span{{0, 9, Token}, {9, 12, Phone}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzRedact(f *testing.F) {
	for _, c := range found {
		f.Add(c.text)
	}
	for _, text := range ordinary {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, spans := Personal(s)
		end := 0
		for _, p := range spans {
			if p.Start < end || p.End <= p.Start || p.End > len(s) {
				t.Fatalf("span %v of %d bytes after %d", p, len(s), end)
			}
			end = p.End
		}
		if len(spans) == 0 && clean != s {
			t.Fatalf("nothing was found, and %q became %q", s, clean)
		}
		text := Text(s)
		if utf8.ValidString(s) && (!utf8.ValidString(text) || !utf8.ValidString(clean)) {
			t.Fatalf("%q lost half a letter: %q", s, text)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := strings.Repeat("GET /v1/runs/0198c2a4-7c1e-7d2a-8f00-0123456789ab took 12 ms and gave 1234 bytes. ", 10)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Text(line)
	}
}
