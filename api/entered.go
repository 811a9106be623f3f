package api

import (
	"context"

	"liminal/internal/identity"
)

type enteredKey struct{}

// Entered is the context of a request that shows no token because it is known whose it
// is: it came where only programs of that person can.
func Entered(ctx context.Context, v identity.Viewer) context.Context {
	return context.WithValue(ctx, enteredKey{}, v)
}
