package cell_test

import (
	"testing"

	"liminal/internal/cell"
)

func TestAProcessHasNoNetworkAndNoPrograms(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	if got, err := do(t, c, "escape", limits); err != nil || got != "[true,true]" {
		t.Errorf("refused: %s, %v", got, err)
	}
}
