package identity

import (
	"context"
	"strings"
)

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

// words are what a letter says, in one language. Its link stands on a line of
// its own between what comes before and after.
type words struct{ subject, before, after string }

// say picks the language of a person.
func say(u User, en, de words) words {
	if u.Locale == "de" {
		return de
	}
	return en
}

func (a *Accounts) letter(u User, w words, path string) Letter {
	parts := []string{w.before, a.o.PublicURL + path, w.after}
	return Letter{To: u.Email, Subject: w.subject, Text: strings.Join(parts, "\n\n") + "\n"}
}

// Tokens travel behind the #: a browser sends that part to no server, so it
// stands in no log and in no Referer.

func (a *Accounts) resetLetter(u User, token string) Letter {
	return a.letter(u, say(u, words{
		"Set a new password",
		"Somebody, hopefully you, asked for a new password for your Liminal account. Follow this link within 15 minutes to set one:",
		"It works once, and ends all sessions. If it was not you, there is nothing to do: your password stays as it is.",
	}, words{
		"Neues Passwort festlegen",
		"Jemand, hoffentlich Sie selbst, hat ein neues Passwort für Ihr Liminal-Konto angefordert. Unter diesem Link legen Sie es innerhalb von 15 Minuten fest:",
		"Er gilt einmal und beendet alle Sitzungen. Waren Sie es nicht, brauchen Sie nichts zu tun: Ihr Passwort bleibt, wie es ist.",
	}), "/reset#"+token)
}

func (a *Accounts) confirmLetter(u User, token string) Letter {
	return a.letter(u, say(u, words{
		"Confirm your address",
		"Welcome to Liminal. Confirm this address within 24 hours:",
		"If you did not make this account, there is nothing to do: it stops working by itself.",
	}, words{
		"Adresse bestätigen",
		"Willkommen bei Liminal. Bestätigen Sie diese Adresse innerhalb von 24 Stunden:",
		"Haben Sie das Konto nicht angelegt, brauchen Sie nichts zu tun: Es wird von selbst gesperrt.",
	}), "/verify#"+token)
}

func (a *Accounts) knownLetter(u User) Letter {
	return a.letter(u, say(u, words{
		"You already have an account",
		"Somebody, hopefully you, wanted to make a Liminal account with this address. It has one already: sign in here, and ask for a new password there if you have forgotten yours:",
		"If it was not you, there is nothing to do: nothing has changed.",
	}, words{
		"Sie haben bereits ein Konto",
		"Jemand, hoffentlich Sie selbst, wollte mit dieser Adresse ein Liminal-Konto anlegen. Es gibt bereits eines: Melden Sie sich hier an, und fordern Sie dort ein neues Passwort an, wenn Sie Ihres vergessen haben:",
		"Waren Sie es nicht, brauchen Sie nichts zu tun: Es hat sich nichts geändert.",
	}), "/")
}
