package identity

import (
	"context"
	"strings"
)

// tellKey mails a person that an access key was made for their account: it
// opens the account without them, and whoever made it may not have been them.
func (a *Accounts) tellKey(ctx context.Context, u User, k Key) {
	if a.o.Mail == nil {
		return
	}
	a.later(ctx, func(ctx context.Context) error {
		s, err := a.choices.Settings(ctx, u.ID)
		if err != nil {
			return err
		}
		return a.o.Mail.Send(ctx, a.keyLetter(u, s.Timezone, k))
	})
}

// keyLetter names the key and what it opens, never its text.
func (a *Accounts) keyLetter(u User, zone string, k Key) Letter {
	scopes := strings.Join(k.ScopesOf(), ", ")
	if u.Locale == "de" {
		return a.letter(u, words{
			"Ein Zugangsschlüssel wurde angelegt",
			"Für Ihr Liminal-Konto wurde ein Zugangsschlüssel angelegt: „" + k.Name + "“. Ein Programm, das ihn hat, handelt in Ihrem Namen und darf: " + scopes +
				".\n\nEr gilt bis " + dateIn(k.ExpiresAt, zone, germanChange.layout) + ". Waren Sie es nicht, beenden Sie ihn hier:",
			"Setzen Sie dann auch ein neues Passwort: Fordern Sie es an, als hätten Sie Ihres vergessen. Das beendet alle Sitzungen und alle Schlüssel.",
		}, "/settings/keys")
	}
	return a.letter(u, words{
		"An access key was made",
		"An access key was made for your Liminal account: \"" + k.Name + "\". A program that has it acts for you, and may: " + scopes +
			".\n\nIt is good until " + dateIn(k.ExpiresAt, zone, englishChange.layout) + ". If it was not you, end it here:",
		"Then set a new password too: ask for one as if you had forgotten yours. That ends all sessions and all keys.",
	}, "/settings/keys")
}
