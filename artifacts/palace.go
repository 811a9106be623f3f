package artifacts

import (
	"context"
	"errors"

	"liminal/internal/check"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// palace checks a policy.palace: that it can be followed.
func (c *checking) palace() {
	_, err := view.Parse(c.doc)
	if faults, ok := errors.AsType[check.Faults](err); ok {
		c.merge(faults)
	}
	c.guard(PalaceNames...)
}

// Palace gives the policy of what agents behind the capture proxy go on to see that
// holds for the viewer: their own "default" before everybody's.
func (l *Library) Palace(ctx context.Context, v identity.Viewer) (Artifact, error) {
	return l.usable(ctx, v, KindPalace, DefaultPolicy)
}
