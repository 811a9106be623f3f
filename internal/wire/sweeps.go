package wire

import (
	"context"
	"errors"
	"maps"
	"time"

	"liminal/activities"
	"liminal/internal/config"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/model/textfile"
)

// staleScratch is how old a half-received file must be to be nobody's upload
// any more.
const staleScratch = 24 * time.Hour

// payloadKeep is how long a large value outlives the last run that could read
// it, and a conversation in no list its last turn: longer than anybody lets Temporal
// keep closed runs.
const payloadKeep = 90 * 24 * time.Hour

// sweeps are what is done again and again for nobody in particular.
func (p *Platform) sweeps(o Options, svc *services) map[string]activities.Sweep {
	keeper := p.keeper(o, svc)
	removed := func(f func(context.Context) (int, error)) func(context.Context) (activities.Swept, error) {
		return func(ctx context.Context) (s activities.Swept, err error) {
			s.Removed, err = f(ctx)
			return s, err
		}
	}
	changed := func(f func(context.Context) (int, error)) func(context.Context) (activities.Swept, error) {
		return func(ctx context.Context) (s activities.Swept, err error) {
			s.Changed, err = f(ctx)
			return s, err
		}
	}
	all := map[string]activities.Sweep{
		"tmp": {Every: 24 * time.Hour, Run: removed(func(ctx context.Context) (int, error) {
			return svc.files.SweepTemporary(ctx, staleScratch)
		})},
		"keys":     {Every: time.Hour, Run: removed(p.store.SweepKeys)},
		"sessions": {Every: time.Hour, Run: removed(p.store.SweepSessions)},
		"payloads": {Every: 24 * time.Hour, Run: removed(func(ctx context.Context) (int, error) {
			return p.store.SweepPayloads(ctx, payloadKeep)
		})},
		"unkept": {Every: 24 * time.Hour, Run: removed(func(ctx context.Context) (int, error) {
			return p.store.SweepUnkept(ctx, payloadKeep)
		})},
		"mirror":   {Every: time.Hour, Run: removed(svc.memories.Sweep)},
		"sources":  {Every: time.Minute, Run: changed(keeper.Sources)},
		"encoders": {Every: 24 * time.Hour, Run: changed(func(ctx context.Context) (int, error) { return keeper.Encoders(ctx, nil) })},
	}
	if o.Config.Model.Backend == textFile {
		all["answers"] = activities.Sweep{Every: time.Hour, Run: removed(func(ctx context.Context) (int, error) { return p.sweepAnswers(ctx, o.Config) })}
	}
	maps.Copy(all, p.changeSweeps(o, svc.desk))
	maps.Copy(all, p.learningSweeps(o))
	maps.Copy(all, p.trainingSweeps(o, svc))
	maps.Copy(all, p.palaceSweeps())
	return all
}

// sweepAnswers removes the old files of MODEL_BACKEND=textfile, of all surfaces and
// of what is no surface's (GRND-42).
func (p *Platform) sweepAnswers(ctx context.Context, c config.Config) (removed int, err error) {
	every, err := p.surfaces.Every(ctx)
	dirs := map[string]bool{c.ResponseDir(""): true}
	for _, s := range every {
		dirs[c.ResponseDir(s.Path)] = true
	}
	errs := []error{err}
	for dir := range dirs {
		n, err := textfile.Sweep(dir, textfile.Kept, time.Now())
		removed += n
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}

// keeper keeps contexts as their files and the encoder are now (RAG-07, RAG-08).
func (p *Platform) keeper(o Options, svc *services) *knowledge.Sweep {
	return knowledge.NewSweep(knowledge.SweepOptions{
		Library: svc.reading, Store: p.store, Viewer: p.store.Viewer, Logger: o.Logger,
		Entries: func(ctx context.Context, v identity.Viewer, path string, recursive bool) ([]knowledge.Entry, error) {
			found, err := svc.files.Walk(ctx, v, path, recursive)
			entries := make([]knowledge.Entry, len(found))
			for i, f := range found {
				entries[i] = knowledge.Entry{Path: f.Path, Size: f.Size, Changed: f.Changed}
			}
			return entries, err
		},
		Adopt: func(ctx context.Context, v identity.Viewer, path string) error {
			plan := p.plans.Of(v)
			_, err := svc.files.Adopt(ctx, v, path, files.Bounds{File: plan.MaxFileBytes, Total: plan.MaxStorageBytes, Count: plan.MaxFiles})
			return err
		},
		Start: func(ctx context.Context, v identity.Viewer, documentID string) error {
			_, err := p.engine.Ingest(ctx, v, documentID)
			return err
		},
	})
}
