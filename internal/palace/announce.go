package palace

import (
	"context"

	"liminal/internal/identity"
)

// Announced begins the keys of announcements. They are plain: nothing of what is
// announced is in them, and the store finds all of them by it.
const Announced = "announcement:"

// Announce has all agents see a text (PAL-16).
func (l *Library) Announce(ctx context.Context, v identity.Viewer, text string) (Block, error) {
	b, c, err := Announcement(text, l.now())
	if err != nil {
		return b, err
	}
	b.Key = Announced + b.UUID
	return l.PutAnnouncement(ctx, v, b, c)
}

// PutAnnouncement implements Keeper.
func (r *sealedRecords) PutAnnouncement(ctx context.Context, v identity.Viewer, b Block, c Chunk) (Block, error) {
	s, err := r.of(ctx, v)
	if err != nil {
		return b, err
	}
	key := b.Key
	s.sealBlock(&b)
	b.Key = key
	b, err = r.Records.PutAnnouncement(ctx, v, b, s.sealChunk(c))
	return r.block(ctx, v, b, err)
}

// PalaceAnnouncements implements Keeper.
func (r *sealedRecords) PalaceAnnouncements(ctx context.Context, v identity.Viewer) ([]Block, error) {
	list, err := r.Records.PalaceAnnouncements(ctx, v)
	return r.blocks(ctx, v, list, err)
}
