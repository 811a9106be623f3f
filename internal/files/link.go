package files

import (
	"cmp"
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
		"user": {f.UserID}, "path": {f.Path}, "session": {session}, "expires": {exp}, "signature": {r.sign("liminal download", f.UserID, f.Path, session, exp)},
	}, expires, nil
}

// Shared is a file that a viewer may download though it may be another
// person's: whoever asks for a link to it has made sure of that.
type Shared struct {
	UserID string // whose file it is
	Path   string
	Name   string // what the download is called; empty: as the file
}

// LinkShared is Link for a file of anybody's. The session is the viewer's.
func (r *Roots) LinkShared(ctx context.Context, v identity.Viewer, of Shared, session string, now time.Time) (url.Values, time.Time, error) {
	f, err := r.File(ctx, owner(of.UserID), of.Path)
	if err != nil {
		return nil, time.Time{}, err
	}
	expires := now.Add(LinkLife).Truncate(time.Second)
	q := url.Values{
		"user": {v.UserID}, "owner": {f.UserID}, "path": {f.Path}, "session": {session}, "expires": {strconv.FormatInt(expires.Unix(), 10)},
	}
	if of.Name != "" {
		q.Set("name", CleanName(of.Name))
	}
	q.Set("signature", r.signed(q))
	return q, expires, nil
}

// owner is a person as the viewer of their own files.
func owner(userID string) identity.Viewer {
	return identity.Viewer{UserID: userID, Role: identity.RoleUser}
}

// signed is the signature of a link: of one to a file of anybody's it covers
// whose it is and what it is called.
func (r *Roots) signed(q url.Values) string {
	if !q.Has("owner") {
		return r.sign("liminal download", q.Get("user"), q.Get("path"), q.Get("session"), q.Get("expires"))
	}
	return r.sign("liminal shared download", q.Get("user"), q.Get("owner"), q.Get("path"), q.Get("name"), q.Get("session"), q.Get("expires"))
}

// Live reports why a session of a user is over, if it is.
type Live func(ctx context.Context, userID, session string) error

// Follow opens the file of a signed link. A link that is wrong, changed or
// old is Forbidden, whether the file exists or not, and so is one whose session
// live does not know any more.
func (r *Roots) Follow(ctx context.Context, q url.Values, live Live, now time.Time) (File, *os.File, error) {
	want := r.signed(q)
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
	of := owner(cmp.Or(q.Get("owner"), q.Get("user")))
	f, err := r.File(ctx, of, q.Get("path"))
	if err != nil {
		return File{}, nil, err
	}
	if q.Has("owner") { // else nothing vouches for the name
		f.Name = cmp.Or(q.Get("name"), f.Name)
	}
	body, err := r.Open(ctx, of, f.Path)
	return f, body, err
}

func (r *Roots) sign(parts ...string) string {
	mac := hmac.New(sha256.New, r.key)
	for _, part := range parts {
		mac.Write([]byte(strconv.Itoa(len(part))))
		mac.Write([]byte{':'})
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
