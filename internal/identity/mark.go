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
// A viewer by an access key is marked by that, and what they hand out ends with it.
func (a *Accounts) Mark(ctx context.Context, v Viewer) (string, error) {
	if v.Grant != nil && a.o.Keys != nil {
		_, _, err := a.liveKey(ctx, v.Grant.KeyID)
		return markOfKey + v.Grant.KeyID, err
	}
	s, _, err := a.live(ctx, v.SessionID)
	if err != nil {
		return "", err
	}
	_, c, err := a.people.User(ctx, v.UserID)
	return s.FamilyID + "." + a.stamp(s.FamilyID, c), err
}

// Marked is Forbidden when the sign-in of a mark is over.
func (a *Accounts) Marked(ctx context.Context, userID, mark string) error {
	if keyID, ok := strings.CutPrefix(mark, markOfKey); ok {
		return a.markedByKey(ctx, userID, keyID)
	}
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

// markOfKey begins the mark of an access key. The links it stands in are signed,
// so it needs no stamp of its own.
const markOfKey = "key."

func (a *Accounts) markedByKey(ctx context.Context, userID, keyID string) error {
	if a.o.Keys == nil || !id.Valid(keyID) {
		return errUnmarked()
	}
	k, _, err := a.liveKey(ctx, keyID)
	switch fault.CodeOf(err) {
	case fault.Unauthorized, fault.Forbidden:
		return errUnmarked()
	}
	if err == nil && k.UserID != userID {
		err = errUnmarked()
	}
	return err
}

func (a *Accounts) stamp(family string, c Credential) string {
	mac := hmac.New(sha256.New, a.o.Key)
	mac.Write([]byte("mark\x00" + family + "\x00" + c.Hash))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func errUnmarked() error {
	return fault.New(fault.Forbidden, "This ended with the sign-in that made it. Ask for a new one.")
}
