package builtin

import (
	"bytes"
	"context"
	"path"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/quota"
	"liminal/internal/speech"
	"liminal/internal/tool"
)

// synthesize speaks a text into a file of the person's own (TOOL-12). Like
// files.write_v1 it is tried once, and an agent asks first.
type synthesize struct {
	files   Files
	plans   *quota.PlanTable
	speaker Speaker
	voices  Voices
}

func (synthesize) Name() string { return "speech.synthesize_v1" }

func (t synthesize) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	to := words(c, "path")
	if !strings.EqualFold(path.Ext(to), ".mp3") {
		return nil, fault.New(fault.Invalid, "The path %s does not end in .mp3, which the recording is.", to)
	}
	voice := words(c, "voice")
	if voice == "" && t.voices != nil {
		chosen, err := t.voices.VoiceOf(ctx, c.Viewer)
		if err != nil {
			return nil, err
		}
		voice = chosen
	}
	var sound bytes.Buffer // MP3s one after the other are one MP3
	for _, piece := range speech.Pieces(words(c, "text")) {
		said, err := t.speaker.Speak(ctx, speech.Line{Text: piece, Voice: voice})
		if err != nil {
			return nil, err
		}
		sound.Write(said.Body)
		voice = said.Voice
	}
	if sound.Len() == 0 {
		return nil, fault.New(fault.Invalid, "%s needs a text.", t.Name())
	}
	size, p := sound.Len(), t.plans.Of(c.Viewer)
	f, _, err := t.files.Put(ctx, c.Viewer, to, sound.Bytes(), files.Bounds{File: p.MaxFileBytes, Total: p.MaxStorageBytes, Count: p.MaxFiles})
	if err != nil {
		return nil, err
	}
	return map[string]any{"path": f.Path, "size": float64(size), "mime": "audio/mpeg", "voice": voice}, nil
}
