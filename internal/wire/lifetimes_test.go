package wire

import (
	"testing"
	"time"

	"liminal/internal/config"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// What nobody configured is what the specification says: seven days for a
// browser, one for an app, and more where the plan gives more.
//
// Requirements: AUTH-18 (7 days in a browser, 1 day in an app; configurable per plan)
func TestASignInLastsAWeekInABrowserAndADayInAnApp(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	life := lifeOf(c.Sessions.Refresh, nil)
	for _, is := range []struct {
		client, plan string
		want         time.Duration
	}{
		{identity.Web, quota.Free, 7 * 24 * time.Hour}, {"", "", 7 * 24 * time.Hour}, {identity.Mobile, quota.Free, 24 * time.Hour},
		{identity.Web, quota.Paid, quota.PlanOf(quota.Paid).Web}, {identity.Mobile, quota.Paid, quota.PlanOf(quota.Paid).Mobile},
	} {
		if got := life(is.client, is.plan); got != is.want {
			t.Errorf("a sign-in of %q on %q lasts %v, want %v", is.client, is.plan, got, is.want)
		}
	}
	if longer := lifeOf(30*24*time.Hour, nil); longer(identity.Web, quota.Free) != 30*24*time.Hour {
		t.Error("the setting does not lengthen a sign-in")
	}
}
