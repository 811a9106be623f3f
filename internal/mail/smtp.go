package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"liminal/internal/identity"
)

// patience is how long one step of a conversation with a server may take.
const patience = 15 * time.Second

// SMTP sends letters over a mail server. It is safe for concurrent use: each
// letter is a conversation of its own.
type SMTP struct {
	from     string
	host     string
	options  []gomail.Option
	implicit *tls.Config // of smtps; nil: STARTTLS
}

var _ identity.Mail = (*SMTP)(nil)

// NewSMTP returns the server of a URL, which it does not reach for yet.
// smtps:// is TLS from the first byte, at port 465 unless it says another;
// smtp:// is STARTTLS, at 587. STARTTLS is a must, but on this machine, where
// a server for trying things out may have none. A user and a password in the
// URL sign in, never without TLS to another machine.
func NewSMTP(server, from string) (*SMTP, error) { return newSMTP(server, from, nil) }

func newSMTP(server, from string, trust *tls.Config) (*SMTP, error) {
	if err := checkSender(from); err != nil {
		return nil, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("LIMINAL_SMTP_URL is not a URL, as in smtp://user:password@mail.example.org:587") // err holds the password
	}
	s := &SMTP{from: from, host: u.Hostname(), options: []gomail.Option{gomail.WithTimeout(patience), gomail.WithoutNoop()}}
	if s.host == "" {
		return nil, errors.New("LIMINAL_SMTP_URL names no host")
	}
	if trust == nil {
		trust = &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	}
	port, err := s.secure(u, trust)
	if err != nil {
		return nil, err
	}
	s.options = append(s.options, gomail.WithPort(port), gomail.WithTLSConfig(trust))
	if u.User != nil {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return s, nil
}

// secure chooses how the conversation is encrypted, and the port.
func (s *SMTP) secure(u *url.URL, trust *tls.Config) (port int, err error) {
	auth := gomail.SMTPAuthAutoDiscover
	switch u.Scheme {
	case "smtps":
		// go-mail cannot discover on a connection that came to it encrypted.
		s.implicit, port, auth = trust, gomail.DefaultPortSSL, gomail.SMTPAuthPlain
		s.options = append(s.options, gomail.WithSSL())
	case "smtp":
		policy := gomail.TLSMandatory
		if local(s.host) {
			policy = gomail.TLSOpportunistic
		}
		s.options, port = append(s.options, gomail.WithTLSPolicy(policy)), gomail.DefaultPortTLS
	default:
		return 0, errors.New("LIMINAL_SMTP_URL must begin with smtp:// or smtps://")
	}
	if u.User != nil {
		s.options = append(s.options, gomail.WithSMTPAuth(auth))
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil {
			return 0, errors.New("LIMINAL_SMTP_URL has no number as its port")
		}
	}
	return port, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send implements identity.Mail: the server has taken the letter when it
// returns nil. The connection is over when Send is, whatever happened.
func (s *SMTP) Send(ctx context.Context, l identity.Letter) error {
	m, err := message(s.from, l)
	if err != nil {
		return err
	}
	var conn net.Conn
	c, err := gomail.NewClient(s.host, append(slices.Clone(s.options), gomail.WithDialContextFunc(
		func(ctx context.Context, network, address string) (_ net.Conn, err error) {
			conn, err = s.dial(ctx, network, address)
			return conn, err
		}))...)
	if err != nil {
		return fmt.Errorf("the mail server %s: %w", s.host, err)
	}
	err = c.DialAndSendWithContext(ctx, m)
	if conn != nil {
		_ = conn.Close() // go-mail leaves it open when a conversation fails
	}
	if err != nil {
		return fmt.Errorf("the mail server %s did not take a mail: %w", s.host, err)
	}
	return nil
}

func (s *SMTP) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicit == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return (&tls.Dialer{Config: s.implicit}).DialContext(ctx, network, address)
}
