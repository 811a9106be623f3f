package mail

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/identity"
)

var letter = identity.Letter{
	To: "ada@example.org", Subject: "Adresse bestätigen",
	Text: "Grüße.\n\nhttps://chat.example.org/verify#TOKEN\n\n.\nEin Punkt allein beendet keinen Brief.\n",
}

// reads checks that raw is letter, as a mail program sees it.
func reads(t *testing.T, raw string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != letter.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	to, err := m.Header.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Address != letter.To {
		t.Errorf("to %v, %v", to, err)
	}
	if m.Header.Get("Date") == "" || m.Header.Get("Message-ID") == "" || m.Header.Get("Auto-Submitted") != "auto-generated" {
		t.Errorf("header %v", m.Header)
	}
	if got := m.Header.Get("Content-Type"); got != "text/plain; charset=UTF-8" {
		t.Errorf("type %q", got)
	}
	body := m.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if got := strings.ReplaceAll(string(text), "\r\n", "\n"); err != nil || strings.TrimSpace(got) != strings.TrimSpace(letter.Text) {
		t.Errorf("text %q, %v", got, err)
	}
}

// postOffice is a mail server that speaks SMTP (RFC 5321) with STARTTLS
// (RFC 3207) and AUTH PLAIN (RFC 4954), to one client after another.
type postOffice struct {
	address  string
	config   *tls.Config // nil: no TLS
	login    string      // "user\x00password"; empty: anybody
	refusing bool        // takes no letter

	mu        sync.Mutex
	letters   []string
	from, to  string
	encrypted bool
}

func (o *postOffice) open(t *testing.T, implicit bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.address = l.Addr().String()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { _ = l.Close() })
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			if implicit {
				c = tls.Server(c, o.config)
			}
			o.talk(c, implicit)
			_ = c.Close()
		}
	})
}

// talk is one conversation.
func (o *postOffice) talk(c net.Conn, encrypted bool) {
	r := bufio.NewReader(c)
	say := func(lines ...string) { _, _ = io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n") }
	say("220 post.test ESMTP")
	known := o.login == ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			lines := []string{"250-post.test", "250-8BITMIME"}
			if o.config != nil && !encrypted {
				lines = append(lines, "250-STARTTLS")
			}
			if encrypted && o.login != "" {
				lines = append(lines, "250-AUTH PLAIN")
			}
			say(append(lines, "250 SMTPUTF8")...)
		case "STARTTLS":
			say("220 go on")
			c = tls.Server(c, o.config)
			r, encrypted = bufio.NewReader(c), true
		case "AUTH":
			_, given, _ := strings.Cut(rest, " ")
			raw, _ := base64.StdEncoding.DecodeString(given)
			if known = string(raw) == "\x00"+o.login; known {
				say("235 welcome")
			} else {
				say("535 who are you")
			}
		case "MAIL":
			if !known || o.refusing {
				say("550 not from you")
				continue
			}
			o.from = rest
			say("250 ok")
		case "RCPT":
			o.to = rest
			say("250 ok")
		case "DATA":
			say("354 go on")
			o.keep(r, encrypted)
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (o *postOffice) keep(r *bufio.Reader, encrypted bool) {
	var text strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.letters, o.encrypted = append(o.letters, text.String()), encrypted
}

func (o *postOffice) took(t *testing.T, n int) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.letters) != n {
		t.Fatalf("%d letters, want %d", len(o.letters), n)
	}
	if n == 0 {
		return ""
	}
	return o.letters[n-1]
}

// certificate is one of 127.0.0.1 and who trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
}

// Requirements: AUTH-08
func TestALetterReachesAMailServer(t *testing.T) {
	t.Parallel()
	server, trust := certificate(t)
	for name, c := range map[string]struct {
		office   *postOffice
		implicit bool
		url      string
		secure   bool
	}{
		"STARTTLS and a password": {&postOffice{config: server, login: "liminal\x00p@ss word"}, false, "smtp://liminal:p%40ss%20word@", true},
		"TLS from the first byte": {&postOffice{config: server, login: "liminal\x00pass"}, true, "smtps://liminal:pass@", true},
		"no TLS on this machine":  {&postOffice{}, false, "smtp://", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.office.open(t, c.implicit)
			s, err := newSMTP(c.url+c.office.address, "Liminal <liminal@example.org>", trust)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				if err := s.Send(t.Context(), letter); err != nil {
					t.Fatal(err)
				}
				reads(t, c.office.took(t, n+1))
			}
			if c.office.encrypted != c.secure || !strings.Contains(c.office.from, "<liminal@example.org>") || !strings.Contains(c.office.to, "<ada@example.org>") {
				t.Errorf("encrypted %v, from %s to %s", c.office.encrypted, c.office.from, c.office.to)
			}
		})
	}
}

func TestAMailThatIsNotTakenIsAnErrorWithoutThePassword(t *testing.T) {
	t.Parallel()
	server, trust := certificate(t)
	wrong, refusing, stranger := &postOffice{config: server, login: "liminal\x00other"}, &postOffice{refusing: true}, &postOffice{config: server}
	for _, o := range []*postOffice{wrong, refusing, stranger} {
		o.open(t, false)
	}
	for name, c := range map[string]struct {
		url   string
		trust *tls.Config
	}{
		"a wrong password":                   {"smtp://liminal:hush@" + wrong.address, trust},
		"a server that takes nothing":        {"smtp://" + refusing.address, nil},
		"a certificate of nobody we know":    {"smtp://" + stranger.address, nil},
		"nobody there":                       {"smtp://127.0.0.1:1", nil},
		"a password over an open connection": {"smtp://liminal:hush@" + refusing.address, nil},
	} {
		s, err := newSMTP(c.url, "liminal@example.org", c.trust)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), letter); err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "TOKEN") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []*postOffice{wrong, refusing, stranger} {
		o.took(t, 0)
	}
}

func TestAMailServerThatCannotBeIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for server, from := range map[string]string{
		"http://mail.example.org": "liminal@example.org", "smtp://": "liminal@example.org", "smtp://a:hush@[": "liminal@example.org",
		"smtp://mail.example.org": "no address",
	} {
		if _, err := NewSMTP(server, from); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s from %s: %v", server, from, err)
		}
	}
	if _, err := NewOutbox(t.TempDir(), "no address"); err == nil {
		t.Error("an outbox without a sender")
	}
}

// Requirements: AUTH-08
func TestWithoutAMailServerLettersAreFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "outbox")
	o, err := NewOutbox(dir, "liminal@localhost")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := o.Send(t.Context(), letter); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		info, _ := f.Info()
		if err != nil || filepath.Ext(f.Name()) != ".eml" || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
		reads(t, string(raw))
	}
}

func TestALetterGoesToOnePersonOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := NewOutbox(dir, "liminal@localhost")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"", "ada@example.org, eve@example.org", "ada@example.org\r\nBcc: eve@example.org"} {
		if err := o.Send(t.Context(), identity.Letter{To: to, Subject: "x", Text: "x"}); err == nil {
			t.Errorf("%q was written to", to)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files", len(files))
	}
}
