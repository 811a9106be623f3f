package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/speech"
	"liminal/internal/speech/speechtest"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// listener hears the same in every recording, reciter speaks anything.
type (
	listener struct{}
	reciter  struct{}
)

func (listener) Transcribe(context.Context, speech.Recording) (speech.Transcript, error) {
	return speech.Transcript{Text: "hello", Language: "en", Seconds: 1.5}, nil
}

func (*reciter) Speak(_ context.Context, l speech.Line) (speech.Sound, error) {
	return speech.Sound{Type: "audio/mpeg", Voice: "alloy", Body: []byte("ID3")}, nil
}

// chose tells one voice for everybody.
type chose string

func (c chose) VoiceOf(context.Context, identity.Viewer) (string, error) { return string(c), nil }

// Requirements: TOOL-12 (STT; TTS), CHAT-21
func TestARecordingIsMadeTextAndATextARecording(t *testing.T) {
	t.Parallel()
	s := speechtest.Serve(t)
	server := speech.Server{BaseURL: s.API(), APIKey: speechtest.Key, Model: "m"}
	ear, err := speech.NewTranscriber(server)
	if err != nil {
		t.Fatal(err)
	}
	mouth, err := speech.NewSpeaker(server, "alloy")
	if err != nil {
		t.Fatal(err)
	}
	c := filed(t, map[string]string{"files/memo.mp3": "sound"})
	p := builtin.Parts{Files: c, Transcriber: ear, Speaker: mouth, Voices: chose("")}
	heard := must(t, p, "speech.transcribe_v1", &tool.Call{Inputs: inputs("path", "files/memo.mp3", "language", "de")})
	if h := s.Heard()[0]; heard["text"] != s.Text || string(h.Body) != "sound" || h.Language != "de" {
		t.Errorf("%v of %+v", heard, h)
	}
	if _, err := run(t, p, "speech.transcribe_v1", &tool.Call{Inputs: inputs("path", "files/none.mp3")}); !errors.Is(err, fault.NotFound) {
		t.Error(err)
	}

	long := strings.Repeat("A sentence of some words. ", 400)
	said := must(t, p, "speech.synthesize_v1", &tool.Call{Inputs: inputs("text", long, "path", "files/answer.mp3")})
	sound, err := os.ReadFile(filepath.Join(c.dir, "files/answer.mp3"))
	if err != nil || said["size"] != float64(len(sound)) || said["voice"] != "alloy" || len(s.Said()) != 3 {
		t.Errorf("%v, a file of %d bytes of %d pieces, %v", said, len(sound), len(s.Said()), err)
	}
	p.Voices = chose("nova") // user_settings.default_voice
	if said := must(t, p, "speech.synthesize_v1", &tool.Call{Inputs: inputs("text", "x", "path", "files/a.mp3")}); said["voice"] != "nova" {
		t.Errorf("%v", said)
	}
	if said := must(t, p, "speech.synthesize_v1", &tool.Call{Inputs: inputs("text", "x", "path", "files/a.mp3", "voice", "alloy")}); said["voice"] != "alloy" {
		t.Errorf("%v", said)
	}
	if _, err := run(t, p, "speech.synthesize_v1", &tool.Call{Inputs: inputs("text", "x", "path", "files/a.md")}); !errors.Is(err, fault.Invalid) {
		t.Error(err)
	}
	for _, one := range builtin.Tools(builtin.Parts{Files: c}) {
		if strings.HasPrefix(one.Name(), "speech.") {
			t.Errorf("%s without a server", one.Name())
		}
	}
}
