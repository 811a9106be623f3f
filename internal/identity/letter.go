package identity

import "context"

// Letter is a mail to one person, in plain text.
type Letter struct {
	To      string // a bare address
	Subject string // one line; never holds a secret
	Text    string
}

// Mail sends letters; internal/mail has one for SMTP and one for files.
type Mail interface {
	// Send hands a letter over. It may take seconds; nobody waits for it.
	Send(ctx context.Context, l Letter) error
}
