package identity

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"

	"liminal/internal/fault"
)

// NormalEmail is the form in which an email is stored and looked up: trimmed,
// lower-cased, and a bare address. Two letters that are not of ASCII become ones
// that are when they are lower-cased, and the address somebody else's.
func NormalEmail(email string) (string, error) {
	turns := strings.ContainsFunc(email, func(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) <= unicode.MaxASCII })
	email = strings.ToLower(strings.TrimSpace(email))
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > 254 || turns {
		return "", fault.New(fault.Invalid, "That is not an email address, as in name@example.org.")
	}
	return email, nil
}

// normalHandle is the form of a name that others see: of letters that look the
// same but are written otherwise (RFC 8266) one is left, and of spaces one.
func normalHandle(handle, email string) (string, error) {
	if strings.TrimSpace(handle) == "" {
		handle, _, _ = strings.Cut(email, "@")
	}
	printable := utf8.ValidString(handle) && strings.IndexFunc(handle, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
	handle, err := precis.Nickname.String(handle)
	if err != nil || !printable || utf8.RuneCountInString(handle) > 64 {
		return "", fault.New(fault.Invalid, "The name may have at most 64 characters, and no control characters.")
	}
	return handle, nil
}

// newEmail is the address of an account that is to be made. Other letters look
// like those of ASCII, or like nothing: with them one person's address passes
// for another's. So there are none, and a domain that has some is written as
// mail servers write it. Accounts from before keep theirs and sign in with it.
func newEmail(email string) (string, error) {
	email, err := NormalEmail(email)
	if err != nil || ascii(email) {
		return email, err
	}
	local, domain, _ := strings.Cut(email, "@")
	domain, err = idna.Lookup.ToASCII(domain)
	plain, err2 := NormalEmail(norm.NFKC.String(local) + "@" + domain)
	if err != nil || err2 != nil || !ascii(plain) {
		return "", fault.New(fault.Invalid, "The address has letters that look like others, or like nothing. Use one of plain letters, as in name@example.org.").
			With(map[string]any{"field": "email"})
	}
	return "", fault.New(fault.Invalid, "Write the address as %s.", plain).With(map[string]any{"field": "email"})
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
