package api

import (
	"context"

	"liminal/internal/identity"
)

func (s *server) settingsRoutes() {
	add(s, route("GET /v1/settings", "settings", "What the person has chosen", scopeRead), s.settings)
	add(s, route("PATCH /v1/settings", "changeSettings", "Change it"), s.changeSettings)
}

// Settings are a person's own choices (AUTH-20).
type Settings struct {
	Locale        string         `json:"locale"`
	Timezone      string         `json:"timezone" doc:"of the IANA database; empty: the client's"`
	DefaultVoice  string         `json:"default_voice"`
	DefaultStyle  string         `json:"default_style"`
	Industry      string         `json:"industry" doc:"the line of business the person is in; a search of the web may say so"`
	Location      string         `json:"location" doc:"where the person is; a search of the web may say so"`
	Flags         map[string]any `json:"flags"`
	SingleSession bool           `json:"single_session" doc:"a sign-in ends the others"`
}

func settingsView(n identity.Settings, u identity.User) Settings {
	if n.Flags == nil {
		n.Flags = map[string]any{}
	}
	return Settings{
		Locale: n.Locale, Timezone: n.Timezone, DefaultVoice: n.DefaultVoice, DefaultStyle: n.DefaultStyle, Flags: n.Flags,
		Industry: n.Industry(), Location: n.Location(), SingleSession: u.SingleSession,
	}
}

func (s *server) settings(ctx context.Context, _ *struct{}) (Settings, error) {
	v := viewerOf(ctx)
	u, err := s.SignIns.Who(ctx, v)
	if err != nil {
		return Settings{}, err
	}
	n, err := s.People.Settings(ctx, v)
	return settingsView(n, u), err
}

type settingsInput struct {
	Body struct {
		Locale        *string        `json:"locale,omitempty" doc:"en or de"`
		Timezone      *string        `json:"timezone,omitempty"`
		DefaultVoice  *string        `json:"default_voice,omitempty"`
		DefaultStyle  *string        `json:"default_style,omitempty"`
		Industry      *string        `json:"industry,omitempty"`
		Location      *string        `json:"location,omitempty"`
		Flags         map[string]any `json:"flags,omitempty" doc:"merged; null removes one"`
		SingleSession *bool          `json:"single_session,omitempty"`
	}
}

func (s *server) changeSettings(ctx context.Context, in *settingsInput) (Settings, error) {
	v, b := viewerOf(ctx), in.Body
	if _, err := s.People.ChangeSettings(ctx, v, identity.SettingsChange{
		Locale: b.Locale, Timezone: b.Timezone, DefaultVoice: b.DefaultVoice, DefaultStyle: b.DefaultStyle, Flags: b.Flags,
		Industry: b.Industry, Location: b.Location,
	}); err != nil {
		return Settings{}, err
	}
	if b.SingleSession != nil {
		if _, err := s.Devices.KeepOneSession(ctx, v, *b.SingleSession); err != nil {
			return Settings{}, err
		}
	}
	return s.settings(ctx, nil)
}
