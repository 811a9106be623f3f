package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Surface is what the environment says of one assistant with a page of its own.
// What is not said is as its document has it.
type Surface struct {
	Enabled *bool
	// Model answers here instead of the one its graph asks for (GRND-23).
	Model string
	// HourlyCap bounds the turns of one person in an hour, GlobalHourlyCap those of
	// everybody together; 0: not said (GRND-27).
	HourlyCap, GlobalHourlyCap int
	// MaxInputTokens and MaxOutputTokens bound what a model is asked and says; 0:
	// not said (GRND-26).
	MaxInputTokens, MaxOutputTokens int
	// Audit is redacted, full or off; empty: not said (GRND-30).
	Audit string
	// ResponseDir is where MODEL_BACKEND=textfile has the files of its turns; empty:
	// a folder of its path's name below that of temporary files (GRND-42).
	ResponseDir string
}

// surfaceSettings are the settings of a surface by how their names end, after
// its path in capitals. Longer ends stand before those they end with.
var surfaceSettings = []struct {
	end string
	set func(s *Surface, text string) error
}{
	{"_ENABLED", func(s *Surface, text string) error { s.Enabled = new(bool); return boolean(s.Enabled, text) }},
	{"_MODEL", func(s *Surface, text string) error { return nonEmpty(&s.Model, text) }},
	{"_GLOBAL_HOURLY_CAP", func(s *Surface, text string) error { return integer(&s.GlobalHourlyCap, text, 1, 100_000_000) }},
	{"_HOURLY_CAP", func(s *Surface, text string) error { return integer(&s.HourlyCap, text, 1, 1_000_000) }},
	{"_MAX_INPUT_TOKENS", func(s *Surface, text string) error { return integer(&s.MaxInputTokens, text, 100, 10_000_000) }},
	{"_MAX_OUTPUT_TOKENS", func(s *Surface, text string) error { return integer(&s.MaxOutputTokens, text, 1, 1_000_000) }},
	{"_AUDIT", func(s *Surface, text string) error { return oneOf(&s.Audit, text, "redacted", "full", "off") }},
	{"_RESPONSE_DIR", func(s *Surface, text string) error { return nonEmpty(&s.ResponseDir, text) }},
}

// SurfaceHelp tells the settings of surfaces, one a line: name and meaning.
func SurfaceHelp() [][2]string {
	return [][2]string{
		{"{PATH}_ENABLED", "true or false: whether the surface at /{path} is there; unset: when the data it reads is set up"},
		{"{PATH}_MODEL", "the model that answers there; unset: the one its role has"},
		{"{PATH}_HOURLY_CAP", "turns of one person in an hour"},
		{"{PATH}_GLOBAL_HOURLY_CAP", "turns of everybody in an hour"},
		{"{PATH}_MAX_INPUT_TOKENS", "tokens a model is asked with, before the oldest messages are left out"},
		{"{PATH}_MAX_OUTPUT_TOKENS", "tokens of one answer of the model"},
		{"{PATH}_AUDIT", "redacted, full or off: what its turns leave behind for administrators"},
		{"{PATH}_RESPONSE_DIR", "folder of the files of MODEL_BACKEND=textfile, for its turns; unset: /tmp/{path}"},
	}
}

// surfaceTexts are the variables that could be settings of surfaces, as they
// stand. Which paths there are is known to the library of artifacts alone, so
// that others' variables may be among them.
func surfaceTexts(env map[string]string, known []Variable) map[string]string {
	own := make(map[string]bool, len(known))
	for _, v := range known {
		own[v.Name] = true
	}
	var found map[string]string
	for name, text := range env {
		if text = strings.TrimSpace(text); text == "" || own[name] || strings.HasPrefix(name, prefix) {
			continue
		}
		for _, s := range surfaceSettings {
			if before, is := strings.CutSuffix(name, s.end); is && before != "" {
				if found == nil {
					found = map[string]string{}
				}
				found[name] = text
				break
			}
		}
	}
	return found
}

// Surface is what the environment says of the surface at a path. The error, if
// any, is Mistakes: what stands there cannot be read.
func (c Config) Surface(path string) (Surface, error) {
	var (
		s        Surface
		mistakes Mistakes
	)
	before := strings.ToUpper(strings.ReplaceAll(path, "-", "_"))
	for _, setting := range surfaceSettings {
		name := before + setting.end
		text, said := c.SurfaceTexts[name]
		if !said {
			continue
		}
		if err := setting.set(&s, text); err != nil {
			mistakes = append(mistakes, Variable{Name: name}.mistake(name, text, err))
		}
	}
	if len(mistakes) > 0 {
		return Surface{}, mistakes
	}
	return s, nil
}

// shapeOfPath is how the path of a surface looks.
var shapeOfPath = regexp.MustCompile(`^[a-z][a-z0-9-]{1,31}$`)

// ResponseDir is where MODEL_BACKEND=textfile has its files for turns of the surface
// at a path; for all others where no path is named.
func (c Config) ResponseDir(path string) string {
	if !shapeOfPath.MatchString(path) {
		path = "liminal"
	}
	s, err := c.Surface(path)
	if err != nil || s.ResponseDir == "" { // a mistake was told at the start
		return filepath.Join(os.TempDir(), path)
	}
	return s.ResponseDir
}
