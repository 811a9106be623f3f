package identity

import (
	"context"
	"net/url"
)

// TellWebhook mails a person where a program is told of their runs from now on: what
// an assistant asks them goes there, and whoever named the address may not have been
// them.
func (a *Accounts) TellWebhook(ctx context.Context, v Viewer, address string) {
	a.later(ctx, func(ctx context.Context) error {
		u, _, err := a.people.User(ctx, v.UserID)
		if err != nil {
			return err
		}
		return a.o.Mail.Send(ctx, a.webhookLetter(u, address))
	})
}

// webhookLetter names the address without what may be secret in it.
func (a *Accounts) webhookLetter(u User, address string) Letter {
	shown := ""
	if at, err := url.Parse(address); err == nil {
		shown = at.Scheme + "://" + at.Host + at.Path
	}
	return a.letter(u, say(u, words{
		"A webhook was set up",
		"A webhook was set up for your Liminal account. From now on this address is told of runs, and of what an assistant asks:\n\n" + shown + "\n\nIf it was not you, remove it here:",
		"Then look at your access keys too, and set a new password: ask for one as if you had forgotten yours. That ends all sessions and all keys.",
	}, words{
		"Ein Webhook wurde eingerichtet",
		"Für Ihr Liminal-Konto wurde ein Webhook eingerichtet. Diese Adresse erfährt ab jetzt von Läufen und davon, was ein Assistent fragt:\n\n" + shown + "\n\nWaren Sie es nicht, entfernen Sie ihn hier:",
		"Sehen Sie dann auch Ihre Zugangsschlüssel an und setzen Sie ein neues Passwort: Fordern Sie es an, als hätten Sie Ihres vergessen. Das beendet alle Sitzungen und alle Schlüssel.",
	}), "/settings/webhooks")
}
