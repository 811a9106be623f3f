package oauth

import "errors"

var (
	errNonce   = errors.New("the nonce is of another sign-in")
	errSubject = errors.New("the user info is of another person")
)

// untrue is an answer of the provider that does not prove itself. The cause
// names claims, never tokens.
func untrue(cause error) error {
	return refused("token_invalid", cause, "What the provider says of you does not prove itself. Begin again; if it stays, tell whoever runs this server.")
}
