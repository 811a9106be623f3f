// Package mail sends letters: over SMTP, or into a folder where there is no
// mail server.
//
// It is the only package that speaks to a mail server. It may import
// identity, whose port it implements, and go-mail.
package mail

import (
	"fmt"
	"net/mail"

	gomail "github.com/wneessen/go-mail"

	"liminal/internal/identity"
)

// message is a letter as it travels: plain text in UTF-8, with a date and an
// id of its own.
func message(from string, l identity.Letter) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := m.From(from); err != nil {
		return nil, fmt.Errorf("the sender of mails: %w", err)
	}
	if err := m.To(l.To); err != nil {
		return nil, fmt.Errorf("the recipient of a mail: %w", err)
	}
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageID()
	m.SetGenHeader("Auto-Submitted", "auto-generated") // nobody's absence note answers it (RFC 3834)
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	return m, nil
}

// checkSender refuses a sender that no mail server would take, at the start
// rather than with the first letter.
func checkSender(from string) error {
	if _, err := mail.ParseAddress(from); err != nil {
		return fmt.Errorf("LIMINAL_MAIL_FROM=%q is no address: %w", from, err)
	}
	return nil
}
