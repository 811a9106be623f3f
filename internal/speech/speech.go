// Package speech turns recordings into text and text into speech, with a server
// that speaks OpenAI's protocol of audio: /v1/audio/transcriptions and
// /v1/audio/speech.
//
// It may import fault. A call is made once: who asks decides whether to ask
// again (Temporal does), and a fault says when.
package speech

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
)

// Bounds of one call.
const (
	// MaxRecording is how much one recording may have, in bytes; OpenAI takes as
	// much.
	MaxRecording = 25 << 20
	// MaxText is how many bytes one text to be spoken may have; OpenAI takes 4,096
	// characters.
	MaxText = 4096
	// MaxVoice is how many bytes the name of a voice may have.
	MaxVoice = 64
	// Patience is how long a server may take for one call.
	Patience = time.Minute

	maxTranscript = 1 << 20  // bytes of an answer with a text
	maxSpeech     = 25 << 20 // bytes of an answer with sound
	connectTime   = 10 * time.Second
)

// Server says where a server is and what it is asked with. BaseURL and Model
// are required.
type Server struct {
	BaseURL string // "https://api.openai.com/v1"
	APIKey  string // sent as a bearer token; may be empty
	Model   string
	HTTP    *http.Client // nil: one that gives up connecting after 10 s and otherwise leaves time to the context
}

// Recording is what somebody said.
type Recording struct {
	Name     string // of its file; the extension says to some servers what it is
	Type     string // MIME type, "" where nobody knows
	Language string // ISO 639-1 of what is said; "": the server finds out
	Body     []byte
}

// Transcript is what was said, as text.
type Transcript struct {
	Text     string
	Language string  // "": the server did not say
	Seconds  float64 // how long the recording is; 0: the server did not say
}

// Line is what is to be said.
type Line struct {
	Text  string
	Voice string // "": the server's usual one
}

// Sound is a text spoken, as MP3.
type Sound struct {
	Type  string // MIME type
	Voice string
	Body  []byte
}

// Transcriber makes text of recordings (TOOL-12). It is safe for concurrent use.
type Transcriber struct{ endpoint }

// NewTranscriber returns a Transcriber. It asks the server nothing yet.
func NewTranscriber(s Server) (*Transcriber, error) {
	e, err := newEndpoint(s, "transcriptions")
	return &Transcriber{e}, err
}

// Transcribe returns what was said in a recording. Errors are faults: Invalid
// for a recording that is empty, too large or refused, RateLimited when the
// server is busy, Internal otherwise.
func (t *Transcriber) Transcribe(ctx context.Context, r Recording) (Transcript, error) {
	if len(r.Body) == 0 {
		return Transcript{}, fault.New(fault.Invalid, "The recording is empty. Record again, and speak before you stop.")
	}
	if len(r.Body) > MaxRecording {
		return Transcript{}, TooLarge()
	}
	body, kind, err := t.form(r)
	if err != nil {
		return Transcript{}, err
	}
	raw, _, err := t.ask(ctx, body, kind, maxTranscript)
	if err != nil {
		return Transcript{}, err
	}
	var a struct {
		Text     *string `json:"text"`
		Language string  `json:"language"`
		Duration float64 `json:"duration"`
	}
	if json.Unmarshal(raw, &a) != nil || a.Text == nil {
		return Transcript{}, t.senseless()
	}
	return Transcript{Text: strings.TrimSpace(*a.Text), Language: a.Language, Seconds: a.Duration}, nil
}

// TooLarge is the fault of a recording of more than MaxRecording.
func TooLarge() error {
	return fault.New(fault.Invalid, "The recording is larger than %d MB, the most one may have. Make it shorter.", MaxRecording>>20).
		With(map[string]any{"field": "file", "max_bytes": MaxRecording})
}

// form is a recording as the protocol sends it.
func (t *Transcriber) form(r Recording) (io.Reader, string, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, f := range [][2]string{{"model", t.server.Model}, {"response_format", "json"}, {"language", r.Language}} {
		if f[1] == "" {
			continue
		}
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	kind, _, _ := strings.Cut(r.Type, ";")
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", named(r.Name, kind))},
		"Content-Type":        {cmp.Or(strings.TrimSpace(kind), "application/octet-stream")},
	})
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(r.Body); err != nil {
		return nil, "", err
	}
	return &body, w.FormDataContentType(), w.Close()
}

// extensions are those by which servers tell what a recording is.
var extensions = map[string]string{
	"audio/webm": ".webm", "video/webm": ".webm", "audio/ogg": ".ogg", "audio/mp4": ".m4a", "audio/x-m4a": ".m4a", "audio/aac": ".m4a",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/flac": ".flac",
}

// named is the name of a recording with an extension, where its type has one.
// What people call their files is none of the server's business.
func named(name, kind string) string {
	if ext := strings.ToLower(path.Ext(name)); ext != "" && len(ext) < 8 {
		return "recording" + ext
	}
	return "recording" + extensions[strings.ToLower(strings.TrimSpace(kind))]
}

// Speaker makes speech of texts (TOOL-12). It is safe for concurrent use.
type Speaker struct {
	endpoint
	voice string
}

// NewSpeaker returns a Speaker whose usual voice is voice. It asks the server
// nothing yet.
func NewSpeaker(s Server, voice string) (*Speaker, error) {
	e, err := newEndpoint(s, "speech")
	if err == nil && voice == "" {
		err = fault.New(fault.Invalid, "A speech server needs the name of a voice.")
	}
	return &Speaker{e, voice}, err
}

// Speak returns a text as sound. Errors are faults: Invalid for a text that is
// empty or too long, or a voice the server does not have; RateLimited when it is
// busy, Internal otherwise.
func (s *Speaker) Speak(ctx context.Context, l Line) (Sound, error) {
	text := strings.TrimSpace(l.Text)
	if text == "" {
		return Sound{}, fault.New(fault.Invalid, "There is no text to be spoken.")
	}
	if len(text) > MaxText {
		return Sound{}, fault.New(fault.Invalid, "The text to be spoken has more than %d bytes. Send it in pieces.", MaxText)
	}
	voice := cmp.Or(l.Voice, s.voice)
	body, err := json.Marshal(map[string]string{"model": s.server.Model, "input": text, "voice": voice, "response_format": "mp3"})
	if err != nil {
		return Sound{}, err
	}
	raw, kind, err := s.ask(ctx, bytes.NewReader(body), "application/json", maxSpeech)
	if err != nil {
		return Sound{}, err
	}
	kind, _, _ = strings.Cut(kind, ";")
	if kind = strings.TrimSpace(strings.ToLower(kind)); len(raw) == 0 || !strings.HasPrefix(kind, "audio/") && kind != "application/octet-stream" {
		return Sound{}, s.senseless()
	}
	if !strings.HasPrefix(kind, "audio/") {
		kind = "audio/mpeg" // what was asked for
	}
	return Sound{Type: kind, Voice: voice, Body: raw}, nil
}

// endpoint is one of the two things a server does.
type endpoint struct {
	server Server
	url    string
}

func newEndpoint(s Server, what string) (endpoint, error) {
	if s.Model == "" {
		return endpoint{}, fault.New(fault.Invalid, "A speech server needs the name of a model.")
	}
	u, err := url.Parse(s.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, fault.New(fault.Invalid, "The address of a speech server must begin with http:// or https:// and name a host; %q does not.", s.BaseURL)
	}
	u.Path = cmp.Or(strings.TrimRight(u.Path, "/"), "/v1") + "/audio/" + what
	if s.HTTP == nil {
		s.HTTP = &http.Client{Transport: &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: connectTime}).DialContext, TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		}}
	}
	return endpoint{s, u.String()}, nil
}

// ask posts a body and returns what came, and its type.
func (e endpoint) ask(ctx context.Context, body io.Reader, kind string, limit int64) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, body)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", kind)
	if e.server.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.server.APIKey)
	}
	res, err := e.server.HTTP.Do(req)
	if err != nil {
		return nil, "", e.unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, "", e.refused(res)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, "", e.unreachable(ctx, err)
	}
	if int64(len(raw)) > limit {
		return nil, "", e.senseless()
	}
	return raw, res.Header.Get("Content-Type"), nil
}

// Extensions lists those of recordings, sorted, with dots.
func Extensions() []string {
	return slices.Compact(slices.Sorted(maps.Values(extensions)))
}
