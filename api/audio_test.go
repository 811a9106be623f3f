package api

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/inproc"
	"liminal/internal/quota"
	"liminal/internal/speech"
	"liminal/internal/speech/speechtest"
)

// voiced is a world with a server that listens and speaks.
func voiced(t *testing.T, change ...func(*Options)) (*world, *speechtest.Server) {
	t.Helper()
	s := speechtest.Serve(t)
	at := speech.Server{BaseURL: s.API(), APIKey: speechtest.Key, Model: "m"}
	ear, err := speech.NewTranscriber(at)
	if err != nil {
		t.Fatal(err)
	}
	mouth, err := speech.NewSpeaker(at, "alloy")
	if err != nil {
		t.Fatal(err)
	}
	change = append(change, func(o *Options) { o.Transcriber, o.Speaker = ear, mouth })
	return newWorld(t, change...), s
}

// dictate sends a recording; fields are names and values.
func (p *person) dictate(sound string, fields ...string) *response {
	p.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i := 0; i+1 < len(fields); i += 2 {
		p.must(w.WriteField(fields[i], fields[i+1]))
	}
	part, err := w.CreateFormFile("file", "recording.webm")
	p.must(err)
	_, err = part.Write([]byte(sound))
	p.must(err)
	p.must(w.Close())
	return p.do("POST", "/v1/audio/transcriptions", form.String(), "Content-Type", w.FormDataContentType())
}

// Requirements: CHAT-21, TOOL-12 (STT; TTS)
func TestWhatIsSaidBecomesTextAndTextIsSaid(t *testing.T) {
	t.Parallel()
	w, s := voiced(t)
	ada := w.signUp("ada@example.org")
	if config := ada.get("/v1/config/ui").ok(); config["speech_to_text"] != true || config["text_to_speech"] != true {
		t.Errorf("%v", config)
	}
	if got := ada.dictate("opus", "language", "de-AT", "model", "whisper-1"); got.status != http.StatusOK || strings.TrimSpace(string(got.body)) != `{"text":"`+s.Text+`"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.dictate("opus", "response_format", "text"); got.status != http.StatusOK || string(got.body) != s.Text || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.dictate("opus", "response_format", "verbose_json"); got.status != http.StatusOK || !strings.HasPrefix(string(got.body), `{"text":"`+s.Text) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if h := s.Heard()[0]; string(h.Body) != "opus" || h.Language != "de" {
		t.Errorf("%+v", h)
	}
	say := func(body map[string]any) string {
		t.Helper()
		got := ada.post("/v1/audio/speech", body)
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "audio/mpeg" || len(got.body) == 0 || got.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", got.status, got.header)
		}
		all := s.Said()
		return all[len(all)-1].Voice
	}
	if v := say(map[string]any{"input": "Three months.", "model": "tts-1", "response_format": "mp3", "speed": 1}); v != "alloy" {
		t.Errorf("spoken by %s", v)
	}
	ada.do("PATCH", "/v1/settings", map[string]any{"default_voice": "nova"}).ok()
	if v := say(map[string]any{"input": "x"}); v != "nova" { // user_settings.default_voice
		t.Errorf("spoken by %s", v)
	}
	if v := say(map[string]any{"input": "x", "voice": "alloy"}); v != "alloy" {
		t.Errorf("spoken by %s", v)
	}
	reader, chatter := ada.by("reads", "read"), ada.by("chats", "chat")
	if got := chatter.dictate("opus"); got.status != http.StatusOK {
		t.Errorf("a key of the scope chat: %d", got.status)
	}
	reader.dictate("opus").fails(403, "forbidden")
	(&person{world: w}).dictate("opus").fails(401, "unauthorized")
}

func TestSpeechHasBounds(t *testing.T) {
	t.Parallel()
	w, s := voiced(t)
	ada := w.signUp("ada@example.org")
	ada.dictate("").fails(400, "validation_error")
	ada.dictate(strings.Repeat("x", speech.MaxRecording+1)).fails(400, "validation_error")
	ada.dictate(strings.Repeat("x", speech.MaxRecording+2*uploadSpare)).fails(400, "validation_error")
	ada.dictate("opus", "language", "Deutsch, bitte").fails(400, "validation_error")
	ada.dictate("opus", "response_format", "srt").fails(400, "validation_error")
	ada.post("/v1/audio/transcriptions", "x", "Content-Type", "multipart/form-data; boundary=b").fails(400, "validation_error")
	ada.post("/v1/audio/transcriptions", map[string]any{}).fails(400, "validation_error")
	for _, body := range []any{map[string]any{"input": " "}, map[string]any{"input": strings.Repeat("x", 5000)}, "{", map[string]any{"input": "x", "voice": strings.Repeat("v", 65)}, map[string]any{"input": "x", "voice": "nobody"}, map[string]any{"input": "x", "response_format": "wav"}, strings.Repeat("x", 2*uploadSpare)} {
		ada.post("/v1/audio/speech", body).fails(400, "validation_error")
	}
	if n := len(s.Heard()) + len(s.Said()); n != 0 {
		t.Errorf("%d were served", n)
	}
	s.Fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	ada.dictate("opus").fails(502, "server_error")
	ada.post("/v1/audio/speech", map[string]any{"input": "x"}).fails(502, "server_error")
}

func TestSpeechIsLimitedByPerson(t *testing.T) {
	t.Parallel()
	w, _ := voiced(t, func(o *Options) {
		o.Limits = quota.NewLimits(frozen{inproc.New(inproc.Options{Base: inproc.Stride})})
	})
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	for range quota.Speech().Burst {
		if got := ada.post("/v1/audio/speech", map[string]any{"input": "x"}); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	ada.post("/v1/audio/speech", map[string]any{"input": "x"}).fails(429, "rate_limited")
	ada.dictate("opus").fails(429, "rate_limited")
	if got := bob.dictate("opus"); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Requirements: CHAT-21
func TestWithoutASpeechServerNobodyListensOrSpeaks(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	if config := ada.get("/v1/config/ui").ok(); config["speech_to_text"] != false || config["text_to_speech"] != false {
		t.Errorf("%v", config)
	}
	if f := ada.dictate("opus").fails(503, "server_error"); !strings.Contains(f.Message, "LIMINAL_STT_URL") {
		t.Error(f.Message)
	}
	if f := ada.post("/v1/audio/speech", map[string]any{"input": "x"}).fails(503, "server_error"); !strings.Contains(f.Message, "LIMINAL_TTS_URL") {
		t.Error(f.Message)
	}
}

// What goes wrong is told as OpenAI's clients read it: a type and a code they map
// to an error of theirs, the field that is at fault, and no envelope.
//
// Requirements: API-02, CHAT-21
func TestWhatFailsIsToldAsOpenAIsClientsReadIt(t *testing.T) {
	t.Parallel()
	w, _ := voiced(t)
	ada := w.signUp("ada@example.org")
	stranger := &person{world: w}
	for name, c := range map[string]struct {
		got                      *response
		status                   int
		kind, code, param, words string
	}{
		"nobody":          {stranger.dictate("opus"), 401, "invalid_request_error", "invalid_api_key", "", ""},
		"a closed key":    {ada.by("reads", "read").post("/v1/audio/speech", map[string]any{"input": "x"}), 403, "invalid_request_error", "key_scope", "", "scope chat"},
		"a form":          {ada.dictate("opus", "response_format", "srt"), 400, "invalid_request_error", "validation_error", "response_format", "srt"},
		"a sound":         {ada.post("/v1/audio/speech", map[string]any{"input": "x", "response_format": "flac"}), 400, "invalid_request_error", "validation_error", "response_format", "flac"},
		"no other path":   {ada.post("/v1/audio/translations", map[string]any{}), 404, "invalid_request_error", "not_found", "", "/v1/audio/translations"},
		"without servers": {newWorld(t).signUp("ada@example.org").dictate("opus"), 503, "server_error", "not_configured", "", "LIMINAL_STT_URL"},
	} {
		var said struct {
			Status any
			Error  struct {
				Message, Type string
				Param, Code   *string
			}
		}
		if err := json.Unmarshal(c.got.body, &said); err != nil || said.Status != nil {
			t.Errorf("%s: %s, %v", name, c.got.body, err)
			continue
		}
		param := ""
		if said.Error.Param != nil {
			param = *said.Error.Param
		}
		if c.got.status != c.status || said.Error.Type != c.kind || said.Error.Code == nil || *said.Error.Code != c.code || param != c.param || !strings.Contains(said.Error.Message, c.words) {
			t.Errorf("%s: %d %s", name, c.got.status, c.got.body)
		}
	}
}
