package speech_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/speech"
	"liminal/internal/speech/speechtest"
)

func both(t *testing.T, key string) (*speechtest.Server, *speech.Transcriber, *speech.Speaker) {
	t.Helper()
	s := speechtest.Serve(t)
	listener, err := speech.NewTranscriber(speech.Server{BaseURL: s.API(), APIKey: key, Model: "whisper-1"})
	if err != nil {
		t.Fatal(err)
	}
	speaker, err := speech.NewSpeaker(speech.Server{BaseURL: s.API() + "/", APIKey: key, Model: "tts-1"}, "alloy")
	if err != nil {
		t.Fatal(err)
	}
	return s, listener, speaker
}

// Requirements: TOOL-12 (STT; TTS), CHAT-21
func TestAServerListensAndSpeaksByOpenAIsProtocol(t *testing.T) {
	t.Parallel()
	s, listener, speaker := both(t, speechtest.Key)
	got, err := listener.Transcribe(t.Context(), speech.Recording{Name: "Ada's secret plan.webm", Type: "audio/webm;codecs=opus", Language: "de", Body: []byte("opus")})
	if err != nil || got.Text != s.Text {
		t.Fatalf("%+v, %v", got, err)
	}
	h := s.Heard()[0]
	if h.Model != "whisper-1" || h.Language != "de" || h.Format != "json" || h.Name != "recording.webm" || h.Type != "audio/webm" || string(h.Body) != "opus" {
		t.Errorf("the server heard %+v", h)
	}
	if _, err := listener.Transcribe(t.Context(), speech.Recording{Type: "audio/mp4", Body: []byte("aac")}); err != nil || s.Heard()[1].Name != "recording.m4a" || s.Heard()[1].Language != "" {
		t.Errorf("%+v, %v", s.Heard()[1], err)
	}
	sound, err := speaker.Speak(t.Context(), speech.Line{Text: " Three months. "})
	if err != nil || sound.Type != "audio/mpeg" || sound.Voice != "alloy" || len(sound.Body) == 0 {
		t.Fatalf("%s by %s of %d bytes, %v", sound.Type, sound.Voice, len(sound.Body), err)
	}
	if said := s.Said()[0]; said != (speechtest.Said{Model: "tts-1", Input: "Three months.", Voice: "alloy", Format: "mp3"}) {
		t.Errorf("the server was asked to say %+v", said)
	}
	if sound, err := speaker.Speak(t.Context(), speech.Line{Text: "x", Voice: "nova"}); err != nil || sound.Voice != "nova" {
		t.Errorf("%+v, %v", sound, err)
	}
}

func TestWhatASpeechServerDoesWrongIsSaid(t *testing.T) {
	t.Parallel()
	s, listener, speaker := both(t, speechtest.Key)
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		fail   http.HandlerFunc
		code   fault.Code
		reason string
	}{
		"busy":          {answer(429, "application/json", `{}`), fault.RateLimited, fault.Upstream},
		"broken":        {answer(500, "text/plain", "oops"), fault.Internal, fault.Upstream},
		"no such route": {answer(404, "text/plain", "404"), fault.Internal, fault.Upstream},
		"a page":        {answer(200, "text/html", "<html>"), fault.Internal, fault.Upstream},
		"nothing":       {answer(200, "audio/mpeg", ""), fault.Internal, fault.Upstream},
		"refused":       {answer(400, "application/json", `{"error":{"message":"too short"}}`), fault.Invalid, ""},
	} {
		s.Fail(c.fail)
		_, heard := listener.Transcribe(t.Context(), speech.Recording{Body: []byte("x")})
		_, said := speaker.Speak(t.Context(), speech.Line{Text: "x"})
		for _, err := range []error{heard, said} {
			if !errors.Is(err, c.code) || fault.Reason(err) != c.reason {
				t.Errorf("%s: %v, reason %q", name, err, fault.Reason(err))
			}
		}
		if name == "refused" && !strings.Contains(said.Error(), "too short") {
			t.Errorf("%v", said)
		}
	}
	s.Fail(nil)
	if _, err := speaker.Speak(t.Context(), speech.Line{Text: "x", Voice: "nobody"}); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a voice there is not: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := speaker.Speak(gone, speech.Line{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, wrong, _ := both(t, "sk-of-somebody")
	if _, err := wrong.Transcribe(t.Context(), speech.Recording{Body: []byte("x")}); fault.Reason(err) != fault.NotConfigured || strings.Contains(err.Error(), "sk-") {
		t.Errorf("a wrong key: %v", err)
	}
	s.Close()
	if _, err := listener.Transcribe(t.Context(), speech.Recording{Body: []byte("x")}); fault.Reason(err) != fault.Upstream {
		t.Errorf("a server that is away: %v", err)
	}
}

func TestWhatCannotBeHeardOrSaidIsNotSent(t *testing.T) {
	t.Parallel()
	s, listener, speaker := both(t, speechtest.Key)
	for name, r := range map[string][]byte{"empty": nil, "large": make([]byte, speech.MaxRecording+1)} {
		if _, err := listener.Transcribe(t.Context(), speech.Recording{Body: r}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"empty": " \n", "long": strings.Repeat("x", speech.MaxText+1)} {
		if _, err := speaker.Speak(t.Context(), speech.Line{Text: text}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.Heard()) + len(s.Said()); n != 0 {
		t.Errorf("%d were sent", n)
	}
	for _, at := range []string{"", "ftp://x/v1", "x"} {
		if _, err := speech.NewTranscriber(speech.Server{BaseURL: at, Model: "m"}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", at, err)
		}
	}
}

func TestALongTextIsCutWhereSomebodyWouldDrawBreath(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("Größe ", 50) + "ends. "
	text := strings.TrimSpace(strings.Repeat(sentence, 40))
	pieces := speech.Pieces(text)
	if len(pieces) < 3 {
		t.Errorf("%d pieces", len(pieces))
	}
	for i, p := range pieces {
		if len(p) > speech.MaxText || !strings.HasSuffix(p, "ends.") {
			t.Errorf("piece %d of %d bytes ends %q", i, len(p), p[max(0, len(p)-20):])
		}
	}
	if strings.Join(pieces, " ") != text {
		t.Error("something was lost")
	}
	unbroken := strings.Repeat("ü", speech.MaxText)
	if got := strings.Join(speech.Pieces("x"+unbroken), ""); got != "x"+unbroken {
		t.Errorf("a character was cut: %d bytes of %d", len(got), len(unbroken)+1)
	}
	if len(speech.Pieces(" \n ")) != 0 {
		t.Error("a piece of nothing")
	}
}
