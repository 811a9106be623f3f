package activities_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"liminal/activities"
)

// Requirements: CLUS-01 (periodic)
func TestTheSweepBeginsARunForEachWhoIsDue(t *testing.T) {
	t.Parallel()
	var begun []string
	broken := errors.New("the store is away")
	s := activities.Learning(
		func(_ context.Context, limit int) ([]string, error) {
			return []string{"ann", "bob", "eve"}[:min(limit, 3)], nil
		},
		func(_ context.Context, userID string) error {
			begun = append(begun, userID)
			if userID == "bob" {
				return broken
			}
			return nil
		})
	swept, err := s.Run(t.Context())
	if !slices.Equal(begun, []string{"ann", "bob", "eve"}) || swept.Changed != 2 || !errors.Is(err, broken) || s.Every != time.Minute {
		t.Errorf("begun for %v, %+v, %v, every %s", begun, swept, err, s.Every)
	}
}
