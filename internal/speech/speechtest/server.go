// Package speechtest is a speech server over OpenAI's protocol of audio, for
// tests: it hears a fixed sentence in every recording and speaks silence. It may
// import the standard library only.
package speechtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Key is what the server wants as its bearer token.
const Key = "sk-speech-of-tests"

// Voices are those the server has.
var Voices = []string{"alloy", "nova"}

// silence is 26 ms of an MP3: one frame of MPEG 1, layer 3, 32 kbit/s, 44.1 kHz,
// mono, which says that there is nothing in it.
var silence = append([]byte{0xff, 0xfb, 0x10, 0xc4}, make([]byte, 100)...)

// Heard is one recording as the server got it.
type Heard struct {
	Model, Language, Format, Name, Type string
	Body                                []byte
}

// Said is one text as the server got it.
type Said struct {
	Model  string `json:"model"`
	Input  string `json:"input"`
	Voice  string `json:"voice"`
	Format string `json:"response_format"`
}

// Server is a running server.
type Server struct {
	*httptest.Server
	// Text is what it hears in every recording.
	Text string

	mu    sync.Mutex
	heard []Heard
	said  []Said
	fail  http.HandlerFunc
}

// URL of the API, up to and with /v1.
func (s *Server) API() string { return s.URL + "/v1" }

// Serve starts one, which ends with the test.
func Serve(t testing.TB) *Server {
	s := &Server{Text: "What is the notice period?"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/transcriptions", s.guarded(s.transcribe))
	mux.HandleFunc("POST /v1/audio/speech", s.guarded(s.speak))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Fail makes every further call end as f writes it; nil: they are answered again.
func (s *Server) Fail(f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = f
}

// Heard are the recordings that came, oldest first.
func (s *Server) Heard() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// Said are the texts that came, oldest first.
func (s *Server) Said() []Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fail := s.fail
		s.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+Key:
			refuse(w, http.StatusUnauthorized, "Incorrect API key provided.")
		case fail != nil:
			_, _ = io.Copy(io.Discard, r.Body)
			fail(w, r)
		default:
			next(w, r)
		}
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	file, head, err := r.FormFile("file")
	if err != nil {
		refuse(w, http.StatusBadRequest, "file: "+err.Error())
		return
	}
	body, err := io.ReadAll(file)
	if err != nil || r.FormValue("model") == "" {
		refuse(w, http.StatusBadRequest, "A file and a model are required.")
		return
	}
	h := Heard{r.FormValue("model"), r.FormValue("language"), r.FormValue("response_format"), head.Filename, head.Header.Get("Content-Type"), body}
	s.mu.Lock()
	s.heard = append(s.heard, h)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"text": " " + s.Text + " "})
}

func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	var said Said
	if err := json.NewDecoder(r.Body).Decode(&said); err != nil || said.Model == "" || said.Input == "" {
		refuse(w, http.StatusBadRequest, "model, input and voice are required.")
		return
	}
	if !slices.Contains(Voices, said.Voice) {
		refuse(w, http.StatusBadRequest, "The voice "+said.Voice+" is not one of "+strings.Join(Voices, ", ")+".")
		return
	}
	if len([]rune(said.Input)) > 4096 {
		refuse(w, http.StatusBadRequest, "input is longer than 4096 characters.")
		return
	}
	s.mu.Lock()
	s.said = append(s.said, said)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "audio/mpeg")
	// Half a second for each character, so that a sentence is still heard where what
	// listens stands still; what is said of two hundred is enough of anything.
	for range 20 * min(len(said.Input), 200) {
		_, _ = w.Write(silence)
	}
}
