package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"liminal/internal/fault"
)

// exchange trades a code for a token. A code that the provider does not take
// is the person's matter; a provider that does not answer is ours.
func exchange(ctx context.Context, k kind, c *oauth2.Config, code, verifier string) (*oauth2.Token, error) {
	token, err := c.Exchange(k.with(ctx), code, oauth2.VerifierOption(verifier))
	if err == nil {
		return token, nil
	}
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return nil, away(err)
	}
	// Its own text holds the whole answer, which may hold a token: not for logs.
	cause := fmt.Errorf("token endpoint: status %d, error %q", statusOf(answer.Response), answer.ErrorCode)
	if answer.ErrorCode == "invalid_client" || answer.ErrorCode == "incorrect_client_credentials" {
		return nil, fault.Wrap(fault.Internal, cause, "The provider does not know this server. Whoever runs it must check client_id and client_secret.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	if statusOf(answer.Response) >= http.StatusInternalServerError {
		return nil, away(cause)
	}
	return nil, refused("code_refused", cause, "The provider does not take the code it gave; codes work once and for a short time. Begin again.")
}

func statusOf(r *http.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}

// away is a provider that gives no answer one can use.
func away(cause error) error {
	return fault.Wrap(fault.Internal, cause, "The provider cannot be reached now, or gives no answer that can be used. Try again, or sign in another way.").
		With(map[string]any{"reason": fault.Upstream})
}
