package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/internal/fault"
)

// Requirements: AUTH-03, AUTH-05
func TestAMadeUpRefreshTokenEndsNobodysSession(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	in := b.signUp(t, "ada@example.org")
	for _, forged := range []string{
		in.SessionID + ".x", in.SessionID + ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		in.Refresh[:len(in.Refresh)-1] + "x", in.Refresh + "x",
	} {
		if _, err := b.Refresh(t.Context(), forged); !errors.Is(err, fault.Unauthorized) {
			t.Errorf("refreshed with %s: %v", forged, err)
		}
		if err := b.LogOut(t.Context(), "", forged); err != nil {
			t.Errorf("logged out with %s: %v", forged, err)
		}
		b.works(t, "after "+forged, in, true)
	}
	next := b.refresh(t, in.Refresh)
	if err := b.LogOut(t.Context(), "", in.Refresh); err != nil { // an old one of its own is genuine
		t.Fatal(err)
	}
	b.works(t, "after the log-out", next, false)
}

// Requirements: AUTH-03
func TestATokenOfBeforeThereWereSealsIsTradedAndLogsOut(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	for what, use := range map[string]func(token string) error{
		"refresh": func(token string) error { _, err := b.Refresh(t.Context(), token); return err },
		"log out": func(token string) error { return b.LogOut(t.Context(), "", token) },
	} {
		in := b.signUp(t, what[:3]+"@example.org")
		old := in.SessionID + ".OLDOLDOLDOLDOLDOLDOLDOLDOL"
		s := b.store.sessions[in.SessionID]
		s.RefreshHash = hashRefresh(old)
		b.store.sessions[in.SessionID] = s
		if err := use(old); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		b.works(t, what, in, what == "refresh")
	}
}

// keeping records what would outlive a new password.
type keeping struct {
	Providers
	Factors
	linked, drafted int
}

func (k *keeping) LinkProvider(context.Context, string, External) error { k.linked++; return nil }

func (k *keeping) DraftFactor(context.Context, Factor) error { k.drafted++; return nil }

// Who signs up with another's address must not have a door left when its owner
// takes the account over by a reset.
//
// Requirements: AUTH-11, AUTH-12, AUTH-16
func TestAnUnconfirmedAccountTakesNothingThatOutlivesAReset(t *testing.T) {
	t.Parallel()
	k := &keeping{}
	b, _, p := withMail(t, confirming, func(o *Options) {
		o.Providers, o.Factors, o.FactorKey = k, noFactor{k}, make([]byte, 32)
	})
	b.signUp(t, "root@example.org")
	b.signUp(t, "ada@example.org")
	token := b.token(t, p, "ada@example.org", "/verify")
	v := Viewer{SessionID: b.logIn(t, "ada@example.org", Device{}).SessionID}
	if err := b.Link(t.Context(), v, External{Provider: "google", UID: "1"}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("linked: %v", err)
	}
	if _, err := b.EnrolFactor(t.Context(), v); !errors.Is(err, fault.Forbidden) {
		t.Errorf("enrolled: %v", err)
	}
	if k.linked+k.drafted != 0 {
		t.Errorf("kept %+v", k)
	}
	if err := b.ConfirmEmail(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	_, enrolled := b.EnrolFactor(t.Context(), v)
	if linked := b.Link(t.Context(), v, External{Provider: "google", UID: "1"}); linked != nil || enrolled != nil || k.linked+k.drafted != 2 {
		t.Errorf("confirmed: %v, %v, %+v", linked, enrolled, k)
	}
}

// A session that was stolen must not become the thief's own.
//
// Requirements: AUTH-12, AUTH-16
func TestAnOldSessionOpensNoFurtherDoors(t *testing.T) {
	t.Parallel()
	k := &keeping{}
	b, _ := withCache(t, func(o *Options) { o.Providers, o.Factors, o.FactorKey = k, noFactor{k}, make([]byte, 32) })
	in := b.signUp(t, "ada@example.org")
	b.clock.pass(time.Hour + time.Second)
	in = b.refresh(t, in.Refresh)
	v := Viewer{SessionID: in.SessionID}
	_, enrolled := b.EnrolFactor(t.Context(), v)
	linked := b.Link(t.Context(), v, External{Provider: "google", UID: "1"})
	if !errors.Is(enrolled, fault.Forbidden) || !errors.Is(linked, fault.Forbidden) || k.linked+k.drafted != 0 {
		t.Errorf("%v, %v, %+v", enrolled, linked, k)
	}
	v.SessionID = b.logIn(t, "ada@example.org", Device{}).SessionID
	if _, err := b.EnrolFactor(t.Context(), v); err != nil {
		t.Errorf("signed in again: %v", err)
	}
}

// noFactor is a store in which nobody has a factor.
type noFactor struct{ *keeping }

func (noFactor) Factor(context.Context, string) (Factor, error) {
	return Factor{}, fault.New(fault.NotFound, "none")
}

// Requirements: AUTH-08
func TestSignUpsWithAKnownAddressDoNotFillItsMailbox(t *testing.T) {
	t.Parallel()
	b, _, p := withMail(t, confirming)
	b.signUp(t, "root@example.org")
	b.signUp(t, "ada@example.org")
	b.took(t, p)
	for range 30 {
		b.signUp(t, "ADA@example.org")
	}
	if got := b.took(t, p); len(got) != 1 {
		t.Errorf("%d letters", len(got))
	}
	b.clock.pass(time.Hour)
	b.signUp(t, "ada@example.org")
	if got := b.took(t, p); len(got) != 1 {
		t.Errorf("%d letters after an hour", len(got))
	}
}

// Requirements: AUTH-19
func TestAnAddressOfIPv6CountsWithItsNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "::ffff:203.0.113.7": "203.0.113.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::9": "2001:db8:1:2::", "fe80::1%eth0": "fe80::",
	} {
		if got := Network(address); got != want {
			t.Errorf("%s counts as %s", address, got)
		}
	}
}

// The last character of a signature has bits that mean nothing: of the
// characters that only differ in those, one is right.
//
// Requirements: AUTH-02
func TestATokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.signUp(t, "ada@example.org").Access
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	good := 0
	for _, last := range letters {
		if _, err := b.Authenticate(t.Context(), token[:len(token)-1]+string(last)); err == nil {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d spellings of one token are believed", good)
	}
	for _, other := range []string{token + "=", token + "\n", " " + token} {
		if _, err := b.Authenticate(t.Context(), other); err == nil {
			t.Errorf("%q is believed", other[len(token)-1:])
		}
	}
}
