package wire

import (
	"cmp"
	"context"
	"fmt"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/config"
	"liminal/internal/model"
)

// openSurfaces finds the assistants with a page of their own. What the settings
// say of those there are must be readable; of later ones it is logged.
func (p *Platform) openSurfaces(ctx context.Context, o Options) error {
	p.surfaces = artifacts.NewSurfaces(p.library, artifacts.SurfaceOptions{
		Setting:   func(path string) (artifacts.SurfaceSetting, error) { return surfaceSetting(o.Config, path) },
		HasSecret: p.sources.HasSecret, Logger: o.Logger,
	})
	p.byFiles = o.Config.Model.Backend == textFile
	every, err := p.surfaces.Every(ctx)
	if err != nil {
		return fmt.Errorf("finding the surfaces: %w", err)
	}
	for _, one := range every {
		if _, err := o.Config.Surface(one.Path); err != nil {
			return err
		}
	}
	return nil
}

func surfaceSetting(c config.Config, path string) (artifacts.SurfaceSetting, error) {
	s, err := c.Surface(path)
	return artifacts.SurfaceSetting{
		Enabled: s.Enabled, Model: s.Model, Audit: s.Audit, Hourly: s.HourlyCap, GlobalHourly: s.GlobalHourlyCap,
		InputTokens: s.MaxInputTokens, OutputTokens: s.MaxOutputTokens,
	}, err
}

// surfaced are the surfaces as turns are held to them.
func (p *Platform) surfaced(ctx context.Context) ([]chat.Surfaced, error) {
	every, err := p.surfaces.Every(ctx)
	list := make([]chat.Surfaced, 0, len(every))
	for _, s := range every {
		one := chat.Surfaced{
			Path: s.Path, WorkflowID: s.WorkflowID, Name: s.Name, Closed: s.Disabled,
			Hourly: s.Limits.Hourly, Global: s.Limits.GlobalHourly, Hint: s.Limits.Hint, Audit: s.Audit, Model: cmp.Or(s.Model, p.modelName),
			Bounds: model.TurnBounds{Model: s.Model, InputTokens: s.Limits.InputTokens, RefuseTokens: s.Limits.RefuseTokens, OutputTokens: s.Limits.OutputTokens},
		}
		if p.byFiles && one.Bounds.Model == "" { // what its folder goes by
			one.Bounds.Model = s.Path
		}
		if one.Audit == artifacts.AuditOff {
			one.Audit = ""
		}
		list = append(list, one)
	}
	return list, err
}
