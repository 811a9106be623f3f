package activities

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
)

// PalaceInput is what a run of kind palace was asked.
type PalaceInput struct {
	Does    string `json:"does"`
	Lineage string `json:"lineage,omitempty"`
	Model   string `json:"model,omitempty"` // that is asked; "": the one that policies of models name
}

// What runs of kind palace do, which is the artifact they follow.
const (
	PalaceRetain      = "palace_retain"
	PalaceClassify    = "palace_classify"
	PalaceConsolidate = "palace_consolidate"
)

var palaceDoes = []string{PalaceRetain, PalaceClassify, PalaceConsolidate}

// NameRetention is the sweep that begins the runs that put away what is past its time.
const NameRetention = "palace-retention"

// NameConsolidation is the sweep that begins the runs that propose notes of histories
// that have ended.
const NameConsolidation = "palace-consolidation"

// Retention is the sweep that begins a run for each person of whose agents anything is
// kept (PAL-22). begin may be called again for the same hour. One person's failure
// holds up nobody else.
func Retention(owners func(ctx context.Context, limit int) ([]string, error), begin func(ctx context.Context, userID string) error) Sweep {
	return eachPerson(time.Hour, maxOwners, owners, begin)
}

// maxOwners bounds the people of one sweep.
const maxOwners = 1000

// palace opens a run that looks after what the capture proxy kept of a person's agents:
// their own, and by a workflow that is everybody's.
func (o *opening) palace(ctx context.Context) error {
	var in PalaceInput
	if err := json.Unmarshal(o.row.Input, &in); err != nil {
		return fault.Wrap(fault.Internal, err, "What the run %s was asked cannot be read.", o.row.ID)
	}
	if !slices.Contains(palaceDoes, in.Does) {
		return fault.New(fault.Invalid, "A run of kind palace does %s, not %q.", strings.Join(palaceDoes, ", "), in.Does)
	}
	return o.learning(ctx, in.Does)
}
