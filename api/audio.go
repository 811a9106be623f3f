package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/speech"
)

// maxSpeech is how many recordings and texts of one person are under way at once.
const maxSpeech = 2

// The protocol of OpenAI's audio, as its clients speak it: answers and errors have
// its shape, without the envelope. What is asked for in a form that there is not,
// is refused and not answered in another.
func (s *server) audioRoutes() {
	op := route("POST /v1/audio/transcriptions", "transcribe", "What was said in a recording, as text; nothing of it is kept", scopeChat)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
		Type: "object", Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"file":     {Type: "string", Format: "binary", Description: "the recording, 25 MB at most"},
			"language": {Type: "string", Description: "what is spoken, as de or en; without it the server finds out"},
			"response_format": {Type: "string", Enum: []any{formatJSON, formatVerbose, formatText}, Default: formatJSON,
				Description: "verbose_json says the language and the duration too, as far as the server does; text is the text alone"},
			"model": {Type: "string", Description: "is the operator's: whatever is named here, that one listens; so with members that are not described"},
		},
	}}}}
	s.handleHTTP(op, s.transcribe)
	s.answers(op, 200, "application/json", "What was said", s.schemaOf(Transcript{}))
	s.answers(op, 200, "text/plain", "What was said, with response_format text", &huma.Schema{Type: "string"})
	s.providers(op)
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("POST /v1/audio/speech", "speak", "A text spoken, as MP3, in the voice the person chose", scopeChat)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: s.schemaOf(SpeechRequest{})}}}
	s.handleHTTP(op, s.speak)
	s.answers(op, 200, "audio/mpeg", "The text, spoken", &huma.Schema{Type: "string", Format: "binary"})
	s.providers(op)
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
}

// audioPath begins the paths of this protocol.
const audioPath = "/v1/audio/"

// The forms of a transcript there are.
const (
	formatJSON    = "json"
	formatVerbose = "verbose_json"
	formatText    = "text"
	formatSound   = "mp3" // of what is spoken
)

// Transcript is what was said in a recording.
type Transcript struct {
	Text     string  `json:"text"`
	Language string  `json:"language,omitempty" doc:"of verbose_json: what was spoken, where the server says so"`
	Duration float64 `json:"duration,omitempty" doc:"of verbose_json: how long the recording is in seconds, where the server says so"`
}

// SpeechRequest is what is to be said.
type SpeechRequest struct {
	_      struct{} `additionalProperties:"true"`
	Input  string   `json:"input" minLength:"1" maxLength:"4096" doc:"the text; 4,096 bytes at most"`
	Voice  string   `json:"voice,omitempty" maxLength:"64" doc:"of the server; without it the person's default_voice, else the server's usual one"`
	Format string   `json:"response_format,omitempty" enum:"mp3" doc:"mp3"`
}

// mute says that nobody was set up to do this (CHAT-21).
func mute(what, setting string) error {
	return fault.New(fault.Internal, "%s is not set up here: the operator has to set %s.", what, setting).
		With(map[string]any{"reason": fault.NotConfigured})
}

// speechTurn holds one of a person's places and spends one of their calls.
func (s *server) speechTurn(ctx context.Context, v identity.Viewer) (release func(), err error) {
	if err := s.Limits.Spend(ctx, quota.Speech(), v.UserID); err != nil {
		return nil, err
	}
	release, err = s.Limits.Hold(ctx, "speech", v.UserID, maxSpeech)
	if errors.Is(err, fault.Conflict) { // a matter of a moment, and no error of theirs
		err = fault.New(fault.RateLimited, "%d recordings or texts of yours are under way, the most at once. Try again in a second.", maxSpeech).
			With(quota.Exceeded{Rule: "speech.at_once", RetryAfter: 1})
	}
	return release, err
}

func (s *server) transcribe(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), viewerOf(r.Context())
	if s.Transcriber == nil {
		s.refuse(w, r, mute("Dictation", "LIMINAL_STT_URL"))
		return
	}
	release, err := s.speechTurn(ctx, v)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer release()
	r.Body = http.MaxBytesReader(w, s.deadlines.body(w, r.Body), speech.MaxRecording+uploadSpare)
	said, format, err := s.hear(ctx, r)
	if err != nil {
		// Browsers show a broken connection instead of the reason unless the
		// rest, which is bounded, has been taken off their hands.
		_, _ = io.Copy(io.Discard, r.Body)
		s.refuse(w, r, recordingFault(err))
		return
	}
	requestOf(ctx).liftReadDeadline()
	switch format {
	case formatText:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, said.Text) // whoever asked may have gone
	case formatVerbose:
		writeJSON(w, http.StatusOK, Transcript{Text: said.Text, Language: said.Language, Duration: said.Seconds})
	default:
		writeJSON(w, http.StatusOK, Transcript{Text: said.Text})
	}
}

// recordingFault says in terms of the recording what the request broke.
func recordingFault(err error) error {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return speech.TooLarge()
	}
	return uploadFault(err, speech.MaxRecording)
}

// languages are how a language is named: de, or de-AT, of which servers know the
// first half.
var languages = regexp.MustCompile(`^([a-z]{2,3})(-[A-Za-z]{2})?$`)

// hear reads the form and has it made text, which is wanted in format.
func (s *server) hear(ctx context.Context, r *http.Request) (said speech.Transcript, format string, err error) {
	reader, err := r.MultipartReader()
	if err != nil {
		return said, "", fault.Wrap(fault.Invalid, err, "Send the recording as multipart/form-data, in a field named file.")
	}
	var in speech.Recording
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return said, "", malformed(err)
		}
		if part.FormName() == "response_format" {
			format, err = formatOf(part)
		} else {
			err = recorded(&in, part)
		}
		if err != nil {
			return said, "", err
		}
	}
	if in.Body == nil {
		return said, "", fault.New(fault.Invalid, "There is no recording in the field named file.")
	}
	said, err = s.Transcriber.Transcribe(ctx, in)
	return said, format, err
}

func formatOf(part *multipart.Part) (string, error) {
	said, err := text(part)
	if err == nil && said != "" && said != formatJSON && said != formatVerbose && said != formatText {
		err = invalidField("response_format", "response_format is %s, %s or %s, not %q.", formatJSON, formatVerbose, formatText, said)
	}
	return said, err
}

// recorded reads one part of the form.
func recorded(in *speech.Recording, part *multipart.Part) error {
	switch part.FormName() {
	case "file":
		if in.Body != nil {
			return fault.New(fault.Invalid, "Send one recording at a time.")
		}
		body, err := io.ReadAll(io.LimitReader(formed{part}, speech.MaxRecording+1))
		if err != nil {
			return err
		}
		in.Name, in.Type, in.Body = fileName(part), part.Header.Get("Content-Type"), body
	case "language":
		said, err := text(part)
		if err != nil || said == "" {
			return err
		}
		named := languages.FindStringSubmatch(said)
		if named == nil {
			return invalidField("language", "language is a code such as de or en, not %q.", said)
		}
		in.Language = named[1]
	}
	return nil
}

func (s *server) speak(w http.ResponseWriter, r *http.Request) {
	sound, err := s.spoken(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", sound.Type)
	h.Set("Content-Length", strconv.Itoa(len(sound.Body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(sound.Body) // the listener may have gone
}

// spoken reads what is to be said and has it spoken.
func (s *server) spoken(w http.ResponseWriter, r *http.Request) (speech.Sound, error) {
	ctx, v := r.Context(), viewerOf(r.Context())
	if s.Speaker == nil {
		return speech.Sound{}, mute("Reading aloud", "LIMINAL_TTS_URL")
	}
	release, err := s.speechTurn(ctx, v)
	if err != nil {
		return speech.Sound{}, err
	}
	defer release()
	r.Body = http.MaxBytesReader(w, s.deadlines.body(w, r.Body), uploadSpare)
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return speech.Sound{}, fault.Wrap(fault.Invalid, err, "The request broke off, or is larger than %d bytes.", uploadSpare)
	}
	var in SpeechRequest
	if err := bodies().Unmarshal(raw, &in); err != nil {
		return speech.Sound{}, fault.Wrap(fault.Invalid, err, "The body is no JSON object with the text under input.")
	}
	if len(in.Voice) > speech.MaxVoice {
		return speech.Sound{}, invalidField("voice", "The name of a voice has %d bytes at most.", speech.MaxVoice)
	}
	if in.Format != "" && in.Format != formatSound {
		return speech.Sound{}, invalidField("response_format", "response_format is %s, not %q.", formatSound, in.Format)
	}
	if in.Voice == "" {
		settings, err := s.People.Settings(ctx, v)
		if err != nil {
			return speech.Sound{}, err
		}
		in.Voice = settings.DefaultVoice
	}
	sound, err := s.Speaker.Speak(ctx, speech.Line{Text: in.Input, Voice: in.Voice})
	sound.Type = cmp.Or(sound.Type, "audio/mpeg")
	requestOf(ctx).liftReadDeadline()
	return sound, err
}
