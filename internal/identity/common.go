package identity

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"liminal/internal/fault"
)

// commonText is the list that common reads; its head says where it is from.
//
//go:embed common.txt
var commonText string

// common are the passwords that are guessed first, in lower case.
var common = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list[line] = true
		}
	}
	return list
})

const (
	// maxTail is how many digits and signs behind a word do not make it another
	// one: Password2024! is guessed right after password.
	maxTail = 6
	// minLocal is the shortest name of an address that says whose it is.
	minLocal = 4
)

// checkCommon refuses what is guessed first: a password of the list, whatever
// its case, or one with no more than some digits and signs behind it; and the
// name of the person's own address, likewise (NIST SP 800-63B, 5.1.1.2).
func checkCommon(password, email string) error {
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	own := utf8.RuneCountInString(local) >= minLocal
	rest := strings.ToLower(norm.NFKC.String(password))
	for range maxTail + 1 {
		switch {
		case own && rest == local:
			return fault.New(fault.Invalid, "The password is hardly more than your address, which is guessed first. Choose one that has nothing to do with it.").
				With(map[string]any{"reason": "common_password"})
		case common()[rest]:
			return fault.New(fault.Invalid, "The password is one of those that are guessed first. Choose another: a few words that do not belong together are good, and easy to remember.").
				With(map[string]any{"reason": "common_password"})
		}
		last, size := utf8.DecodeLastRuneInString(rest)
		if size == 0 || unicode.IsLetter(last) {
			break
		}
		rest = rest[:len(rest)-size]
	}
	return nil
}
