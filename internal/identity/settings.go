package identity

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"
	_ "time/tzdata" // a container may have none, and time zones are checked against it
	"unicode/utf8"

	"liminal/internal/fault"
)

// Settings are what people choose for themselves (AUTH-20).
type Settings struct {
	Locale       string // "en" or "de"
	Timezone     string // of the IANA database, as in "Europe/Berlin"; empty: the client's
	DefaultVoice string // empty: none
	DefaultStyle string
	Flags        map[string]any // of clients and experiments; at most 4 KiB as JSON
}

// The flags that say what somebody does and where. They are words for a search
// of the web, if its workflow asks for them (TOOL-13).
const (
	flagIndustry = "industry"
	flagLocation = "location"
)

// Industry is the line of business the person is in; empty: they did not say.
func (s Settings) Industry() string { return s.word(flagIndustry) }

// Location is where the person is; empty: they did not say.
func (s Settings) Location() string { return s.word(flagLocation) }

func (s Settings) word(flag string) string {
	word, _ := s.Flags[flag].(string)
	return word
}

// SettingsChange is what to change; nil leaves a field as it is. Flags are
// merged: null removes one.
type SettingsChange struct {
	Locale       *string
	Timezone     *string
	DefaultVoice *string
	DefaultStyle *string
	Industry     *string // empty: take it back
	Location     *string
	Flags        map[string]any
}

const (
	maxFlags  = 4 << 10 // bytes of JSON
	maxChoice = 64      // characters of a voice or a style
)

// Apply returns s as c changes it.
func (c SettingsChange) Apply(s Settings) (Settings, error) {
	for _, f := range []struct{ into, from *string }{
		{&s.Locale, c.Locale}, {&s.Timezone, c.Timezone}, {&s.DefaultVoice, c.DefaultVoice}, {&s.DefaultStyle, c.DefaultStyle},
	} {
		if f.from != nil {
			*f.into = *f.from
		}
	}
	s.Flags = maps.Clone(s.Flags)
	for name, value := range c.Flags {
		if s.Flags == nil {
			s.Flags = map[string]any{}
		}
		if s.Flags[name] = value; value == nil {
			delete(s.Flags, name)
		}
	}
	for flag, word := range map[string]*string{flagIndustry: c.Industry, flagLocation: c.Location} {
		if word == nil {
			continue
		}
		if s.Flags == nil {
			s.Flags = map[string]any{}
		}
		if s.Flags[flag] = strings.TrimSpace(*word); s.Flags[flag] == "" {
			delete(s.Flags, flag)
		}
	}
	return s, s.check(c)
}

// check looks at what was changed only: what was stored before stays.
func (s Settings) check(c SettingsChange) error {
	wrong := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With(map[string]any{"field": field})
	}
	if c.Locale != nil && s.Locale != "en" && s.Locale != "de" {
		return wrong("locale", "The language must be en or de.")
	}
	if _, err := time.LoadLocation(s.Timezone); c.Timezone != nil && (err != nil || s.Timezone == "Local") {
		return wrong("timezone", "That is no time zone, as in Europe/Berlin.")
	}
	if utf8.RuneCountInString(s.DefaultVoice) > maxChoice || utf8.RuneCountInString(s.DefaultStyle) > maxChoice {
		return wrong("default_style", "A voice or a style may have at most %d characters.", maxChoice)
	}
	if utf8.RuneCountInString(s.Industry()) > maxChoice || utf8.RuneCountInString(s.Location()) > maxChoice {
		return wrong("industry", "An industry or a location may have at most %d characters.", maxChoice)
	}
	if raw, err := json.Marshal(s.Flags); err != nil || len(raw) > maxFlags {
		return wrong("flags", "The flags may be at most %d bytes of JSON together.", maxFlags)
	}
	return nil
}

// Settings returns a viewer's settings.
func (a *Accounts) Settings(ctx context.Context, v Viewer) (Settings, error) {
	return a.choices.Settings(ctx, v.UserID)
}

// ChangeSettings changes a viewer's settings. A new language counts at once.
func (a *Accounts) ChangeSettings(ctx context.Context, v Viewer, c SettingsChange) (Settings, error) {
	s, err := a.choices.ChangeSettings(ctx, v.UserID, c)
	if err == nil && c.Locale != nil {
		err = a.refreshSessions(ctx, v.UserID)
	}
	return s, err
}
