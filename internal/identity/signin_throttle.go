package identity

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"liminal/internal/fault"
)

// Failed sign-ins are counted for an hour, by account and by address; a right
// one forgets neither (AUTH-19). Beyond a bound everybody slows down and nobody
// is locked out: an account under attack takes one try a minute from each
// address, an attacking address one try a minute in all. This is the half that
// lasts: what one address may ask in minutes, of one account and of all, are
// quota.SignIn and quota.SignInByAddress, which the API spends before.
const (
	failuresLife              = time.Hour
	failuresOfAccount         = 50
	failuresOfAddress         = 200
	pace                      = time.Minute
	throttledKey, failuresKey = "auth:slow:", "auth:failed:"
)

// Slowed is the details of the RateLimited fault of a sign-in that comes too
// soon after another.
type Slowed struct {
	Rule       string `json:"rule"`
	RetryAfter int    `json:"retry_after"` // seconds
}

// throttled refuses a try that comes too soon. A cache that fails forgives.
func (a *Accounts) throttled(ctx context.Context, email, address string) error {
	account, from := accountKey(email), addressKey(address)
	for slow, paced := range map[string]string{account: account + ":" + from, from: from} {
		if _, is, err := a.o.Cache.Get(ctx, throttledKey+slow); err != nil || !is {
			continue
		}
		first, err := a.o.Cache.Add(ctx, "auth:pace:"+paced, []byte{'1'}, pace)
		if err == nil && !first {
			seconds := int(pace.Seconds())
			return fault.New(fault.RateLimited, "Too many sign-ins have failed. Try again in %d seconds.", seconds).
				With(Slowed{Rule: "auth.failures", RetryAfter: seconds})
		}
	}
	return nil
}

// recordFailure counts a sign-in that was wrong.
func (a *Accounts) recordFailure(ctx context.Context, email, address string) {
	for key, most := range map[string]int64{accountKey(email): failuresOfAccount, addressKey(address): failuresOfAddress} {
		n, err := a.o.Cache.Count(ctx, failuresKey+key, failuresLife)
		if err == nil && n >= most {
			err = a.o.Cache.Set(ctx, throttledKey+key, []byte{'1'}, failuresLife)
		}
		if err != nil {
			a.o.Logger.WarnContext(ctx, "a failed sign-in could not be counted", "error", err)
		}
	}
}

// accountKey names an account without saying its address.
func accountKey(email string) string {
	return "account:" + hashRefresh(strings.ToLower(strings.TrimSpace(email)))[:32]
}

func addressKey(address string) string { return "address:" + Network(address) }

// Network is what tries from an address are counted by: the address, or the
// network of one that comes with 2^64 others.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return hashRefresh(address)[:32]
	}
	if ip = ip.Unmap(); ip.Is6() {
		network, _ := ip.WithZone("").Prefix(64) // 64 is in range
		return network.Masked().Addr().String()
	}
	return ip.String()
}
