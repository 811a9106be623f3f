package wire

import (
	"context"
	"fmt"
	"slices"

	"liminal/api"
	"liminal/internal/config"
	"liminal/internal/identity"
	"liminal/internal/speech"
	"liminal/internal/store"
)

// speaking is who makes text of recordings and who speaks; nil: nobody does.
type speaking struct {
	transcriber *speech.Transcriber
	speaker     *speech.Speaker
}

// openSpeech makes who listens and who speaks, as far as the settings name them.
// Both are servers an operator named, dialled as those of models are.
func (p *Platform) openSpeech(c config.Speech) (err error) {
	server := func(s config.SpeechServer) speech.Server {
		return speech.Server{BaseURL: s.URL, APIKey: s.Key, Model: s.Model, HTTP: backendClient()}
	}
	if c.Transcriber.URL != "" {
		if p.transcriber, err = speech.NewTranscriber(server(c.Transcriber)); err != nil {
			return fmt.Errorf("LIMINAL_STT_URL: %w", err)
		}
	}
	if c.Speaker.URL != "" {
		if p.speaker, err = speech.NewSpeaker(server(c.Speaker), c.Voice); err != nil {
			return fmt.Errorf("LIMINAL_TTS_URL: %w", err)
		}
	}
	return nil
}

// readable lists the extensions of files that people may keep beside those the
// program reads itself: what their tools make text of, and recordings where
// somebody listens or speaks.
func (p *Platform) readable(ctx context.Context, v identity.Viewer) ([]string, error) {
	list, err := p.library.Readable(ctx, v)
	if p.transcriber != nil || p.speaker != nil {
		list = slices.Concat(list, speech.Extensions())
	}
	return list, err
}

// voices tells which voice people chose in their settings.
type voices struct{ store *store.Store }

func (o voices) VoiceOf(ctx context.Context, v identity.Viewer) (string, error) {
	n, err := o.store.Settings(ctx, v.UserID)
	return n.DefaultVoice, err
}

// speechOptions is the same for the API, where nobody is nil.
func (p *Platform) speechOptions() (o api.SpeechOptions) {
	if p.transcriber != nil {
		o.Transcriber = p.transcriber
	}
	if p.speaker != nil {
		o.Speaker = p.speaker
	}
	return o
}
