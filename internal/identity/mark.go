package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// Mark names a viewer's sign-in for something that must end with it, as a link
// that others hold. It opens nothing. It is of the password as well: with
// another one it is over, also in the session that changed it.
func (a *Accounts) Mark(ctx context.Context, v Viewer) (string, error) {
	s, _, err := a.live(ctx, v.SessionID)
	if err != nil {
		return "", err
	}
	_, c, err := a.people.User(ctx, v.UserID)
	return s.FamilyID + "." + a.stamp(s.FamilyID, c), err
}

// Marked is Forbidden when the sign-in of a mark is over.
func (a *Accounts) Marked(ctx context.Context, userID, mark string) error {
	family, stamp, _ := strings.Cut(mark, ".")
	if !id.Valid(userID) || !id.Valid(family) {
		return errUnmarked()
	}
	u, c, err := a.people.User(ctx, userID)
	if errors.Is(err, fault.NotFound) || err == nil && (a.admits(u) != nil || !hmac.Equal([]byte(stamp), []byte(a.stamp(family, c)))) {
		return errUnmarked()
	}
	if err != nil {
		return err
	}
	list, err := a.sessions.ListSessions(ctx, userID)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.FamilyID == family {
			return nil
		}
	}
	return errUnmarked()
}

func (a *Accounts) stamp(family string, c Credential) string {
	mac := hmac.New(sha256.New, a.o.Key)
	mac.Write([]byte("mark\x00" + family + "\x00" + c.Hash))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func errUnmarked() error {
	return fault.New(fault.Forbidden, "This ended with the sign-in that made it. Ask for a new one.")
}
