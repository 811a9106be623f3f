package files

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"os"
	"strconv"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// LinkLife is how long a signed link works (FILE-05).
const LinkLife = 10 * time.Minute

// Link signs a download of one file of the viewer. The query carries
// everything Follow needs; whoever holds it may download until it expires, or
// until the session ends, which is named in whatever words live understands.
func (r *Roots) Link(ctx context.Context, v identity.Viewer, p, session string, now time.Time) (url.Values, time.Time, error) {
	f, err := r.File(ctx, v, p)
	if err != nil {
		return nil, time.Time{}, err
	}
	expires := now.Add(LinkLife).Truncate(time.Second)
	exp := strconv.FormatInt(expires.Unix(), 10)
	return url.Values{
		"user": {f.UserID}, "path": {f.Path}, "session": {session}, "expires": {exp}, "signature": {r.sign(f.UserID, f.Path, session, exp)},
	}, expires, nil
}

// Live reports why a session of a user is over, if it is.
type Live func(ctx context.Context, userID, session string) error

// Follow opens the file of a signed link. A link that is wrong, changed or
// old is Forbidden, whether the file exists or not, and so is one whose session
// live does not know any more.
func (r *Roots) Follow(ctx context.Context, q url.Values, live Live, now time.Time) (File, *os.File, error) {
	want := r.sign(q.Get("user"), q.Get("path"), q.Get("session"), q.Get("expires"))
	if !hmac.Equal([]byte(want), []byte(q.Get("signature"))) {
		return File{}, nil, fault.New(fault.Forbidden, "This link is not one of ours. Ask for a new one.")
	}
	exp, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || !now.Before(time.Unix(exp, 0)) {
		return File{}, nil, fault.New(fault.Forbidden, "This link has expired. Ask for a new one.")
	}
	if err := live(ctx, q.Get("user"), q.Get("session")); err != nil {
		return File{}, nil, err
	}
	owner := identity.Viewer{UserID: q.Get("user"), Role: identity.RoleUser}
	f, err := r.File(ctx, owner, q.Get("path"))
	if err != nil {
		return File{}, nil, err
	}
	body, err := r.Open(ctx, owner, f.Path)
	return f, body, err
}

func (r *Roots) sign(user, path, session, expires string) string {
	mac := hmac.New(sha256.New, r.key)
	for _, part := range []string{"liminal download", user, path, session, expires} {
		mac.Write([]byte(strconv.Itoa(len(part))))
		mac.Write([]byte{':'})
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
