package palace

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// LostRoom says that there was no room for bytes in the store.
const LostRoom = "room"

// room keeps the contents in the store within their bound.
type room struct {
	intake *Intake
	owner  identity.Viewer
	used   int64
	tried  time.Time // when nothing could make room
}

const (
	// roomShare is how much is freed at once, as a part of the bound: one that is
	// reached is reached again soon.
	roomShare = 20
	// roomAgain is how long nothing is tried where nothing could make room.
	roomAgain = time.Minute
)

func (i *Intake) room(ctx context.Context, owner identity.Viewer) (*room, error) {
	r := &room{intake: i, owner: owner}
	if i.Disk <= 0 {
		return r, nil
	}
	return r, r.count(ctx)
}

func (r *room) count(ctx context.Context) (err error) {
	r.used, err = r.intake.Store.PalaceBytes(ctx, r.owner)
	r.intake.bytes.Store(r.used)
	return err
}

// take makes room for what is to be taken in. Where nothing more is put away that could
// go, the contents of the new are left out, and the rows come without.
func (r *room) take(ctx context.Context, list []taking) error {
	need := int64(0)
	for _, t := range list {
		need += t.size()
	}
	bound := r.intake.Disk
	if bound <= 0 || need == 0 {
		return nil
	}
	if r.used+need > bound && r.intake.now().Sub(r.tried) >= roomAgain {
		if _, err := r.intake.Store.MakePalaceRoom(ctx, r.owner, r.used+need-bound+bound/roomShare); err != nil {
			return err
		}
		if err := r.count(ctx); err != nil { // others may have erased something too
			return err
		}
	}
	full := r.used+need > bound
	if full != r.intake.full.Swap(full) && full {
		r.intake.Log.Warn("the store holds as many contents of agents as PALACE_DISK lets it, and nothing is put away that could go: exchanges are taken in without their contents until there is room", "bytes", r.used, "bound", bound)
	}
	if full {
		r.tried = r.intake.now()
		for n := range list {
			list[n].empty(r.tried)
		}
		return nil
	}
	r.used += need
	r.intake.bytes.Store(r.used)
	return nil
}

// size is what the contents of an exchange take in the store.
func (t *taking) size() int64 {
	n := len(t.e.Recipe) + len(t.e.Wire)
	for _, c := range t.chunks {
		n += len(c.Packed)
	}
	return int64(n)
}

// empty leaves the contents out.
func (t *taking) empty(at time.Time) {
	t.e.Recipe, t.e.Wire, t.chunks, t.left = nil, nil, nil, &at
	if t.e.Asked.Lost == "" && t.e.Asked.Hash != "" {
		t.e.Asked.Lost = LostRoom
	}
	if t.e.Answered.Lost == "" && t.e.Answered.Hash != "" {
		t.e.Answered.Lost = LostRoom
	}
}
