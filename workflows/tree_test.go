package workflows_test

import (
	"strings"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/run"
)

// A workflow that was stored before such were refused, or that another name
// leads back to, ends by the depth of its tree, and as the person's own fault.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestAWorkflowThatRunsItselfEndsByTheDepthOfItsTree(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"again","nodes":[{"id":"again","type":"workflow","workflow":"default"}]}`)
	w.Own = true
	b := setup(t, w)
	b.chat("hello")
	c := b.closed()
	if c.End.Status != run.Failed || !strings.Contains(string(c.End.Error), "more than 8 runs below") || !strings.Contains(string(c.End.Error), `"code":"validation_error"`) {
		t.Errorf("the turn ended %s with %s", c.End.Status, c.End.Error)
	}
}
