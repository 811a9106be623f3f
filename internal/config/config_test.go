package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/internal/config"
)

// Requirements: OPS-07, PAL-01 (127.0.0.1:19848 by default)
func TestDefaultsNeedNothingInTheEnvironment(t *testing.T) {
	t.Parallel()
	c, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("./.liminal")
	want := config.Config{
		Data: data, Listen: "127.0.0.1:8080", AdapterMode: "hybrid", EmbeddingDim: 64,
		Temporal: config.Temporal{
			Address: "127.0.0.1:7233", Namespace: "default", Listen: "127.0.0.1:7233", UI: "127.0.0.1:8233",
		},
		Model: config.Model{
			Backend: "extractive", AnthropicURL: "https://api.anthropic.com", OpenAIVersion: "2024-10-21",
			AdapterCache: 6 << 30, Silence: time.Minute, AnswerTokens: 32_768, Safety: "rules", Reranker: "auto",
		},
		Adapters: config.Adapters{Trainer: "builtin", Load: "resolver", MaxRank: 16, Keep: 256},
		Embed:    config.Embedding{Encoder: "auto"},
		Speech: config.Speech{
			Transcriber: config.SpeechServer{Model: "whisper-1"}, Speaker: config.SpeechServer{Model: "tts-1"}, Voice: "alloy",
		},
		RAG:      config.RAG{Mode: "local_hybrid", TopK: 8, High: 0.75, Low: 0.5},
		Sources:  config.Sources{Firm: "HLC"},
		Sessions: config.Sessions{Access: 30 * time.Minute, Refresh: 7 * 24 * time.Hour},
		Accounts: config.Accounts{SignUp: "open", Plan: "free", Tenants: []string{"default"}},
		Mail:     config.Mail{From: "liminal@localhost"},
		Traces:   config.Traces{Service: "liminal"},
		Log:      config.Log{Level: "info", Format: "text"},
		Changes:  config.Changes{Recordings: 30 * 24 * time.Hour, RecordingsMost: 500_000, Architect: 24 * time.Hour, Learning: "full"},
		Client:   config.Client{URL: "http://127.0.0.1:8080"},
		Palace:   config.Palace{Address: "127.0.0.1:19848", Upstream: "https://api.anthropic.com", OpenAI: "https://api.openai.com", Memory: 128 << 20, Disk: 20 << 30},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

// Requirements: OPS-07
func TestFlagsWinOverTheEnvironment(t *testing.T) {
	t.Parallel()
	c, err := config.Load(
		[]string{"LIMINAL_LISTEN=127.0.0.1:1", "DATABASE_URL=postgres://u:p@h/d", "REDIS_URL=redis://h", "TEMPORAL_ADDRESS=t:7233"},
		map[string]string{"listen": "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:0" || c.DatabaseURL != "postgres://u:p@h/d" || c.RedisURL != "redis://h" || c.Temporal.Address != "t:7233" {
		t.Errorf("got %+v", c)
	}
}

func TestEveryMistakeIsToldAtOnceAndSecretsAreNot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load([]string{
		"SHARED_FS_ROOT=" + file,
		"LIMINAL_LISTEN=nowhere",
		"LIMINAL_LISTN=127.0.0.1:1",
		"LIMINAL_ENTIRELY_ELSE=1",
		"DATABASE_URL=mysql://root:hunter2@h/d",
		"TEMPORAL_ADDRESS=h:70000",
		"EMBEDDING_DIM=128",
		"LIMINAL_ADAPTER_CACHE=much",
		"LIMINAL_TRAIN_COMMAND=train.py",
		"LIMINAL_LORA_BASE=../elsewhere",
		"RAG_TOP_K=many",
		"RAG_THRESHOLD_HIGH=NaN",
		"LIMINAL_ACCESS_TTL=2h",
		"LIMINAL_REFRESH_TTL=60d",
		"MODEL_BACKEND=oracle",
	}, map[string]string{"temporal-ui": "x"})
	var mistakes config.Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("got %v", err)
	}
	told := err.Error()
	for _, want := range []string{
		file + " is a file; name a folder",
		"LIMINAL_LISTEN=nowhere is not a host and a port",
		"LIMINAL_LISTN is no setting of this program; did you mean LIMINAL_LISTEN?",
		"LIMINAL_ENTIRELY_ELSE is no setting of this program; liminald help environment",
		"DATABASE_URL is not a URL that begins with postgres:// or postgresql:// (its value is not shown)",
		"TEMPORAL_ADDRESS=h:70000 needs a port",
		"EMBEDDING_DIM=128 must be 64",
		"LIMINAL_ADAPTER_CACHE=much is not an amount of memory",
		"LIMINAL_TRAIN_COMMAND=train.py does not say where the job's folder goes: write {dir}",
		"LIMINAL_LORA_BASE=../elsewhere is not the name of a folder",
		"RAG_TOP_K=many is not a whole number",
		"RAG_THRESHOLD_HIGH=NaN is not a number from 0 to 1",
		"LIMINAL_ACCESS_TTL=2h must be from 15m to 60m",
		"LIMINAL_REFRESH_TTL=60d must be from 7d to 30d",
		"MODEL_BACKEND=oracle is not one of extractive, scripted, local_lora, anthropic, textfile, process, openai",
		"--temporal-ui=x is not a host and a port",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("missing %q in\n%s", want, told)
		}
	}
	if len(mistakes) != 16 || strings.Contains(told, "hunter2") {
		t.Errorf("%d mistakes:\n%s", len(mistakes), told)
	}
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"RAG_THRESHOLD_LOW=0.9", "RAG_MODE=pgvector", "MODEL_BACKEND=scripted", "LIMINAL_EMBEDDER=ollama", "LIMINAL_TRAINER=command", "LIMINAL_LORA_SERVER_DIR=/adapters"}, nil)
	var mistakes config.Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != 6 {
		t.Fatalf("got %v", err)
	}
	if _, err := config.Load([]string{"MODEL_BACKEND=lorax"}, nil); err == nil {
		t.Error("a backend without a usual place needs no URL")
	}
	if _, err := config.Load([]string{"MODEL_BACKEND=ollama"}, nil); err == nil {
		t.Error("an Ollama needs no model")
	}
}

// Requirements: OPS-08, LORA-05
func TestABackendStartsWithoutItsKeyAndSaysWhichIsMissing(t *testing.T) {
	t.Parallel()
	for backend, missing := range map[string]string{
		"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "llamacpp": "", "extractive": "",
	} {
		env := []string{"MODEL_BACKEND=" + backend}
		if backend == "llamacpp" {
			env = append(env, "OPENAI_BASE_URL=http://127.0.0.1:9")
		}
		c, err := config.Load(env, nil)
		if err != nil || c.Model.MissingKey() != missing || c.AdapterMode != "hybrid" {
			t.Errorf("%s: missing %q, mode %q, %v", backend, c.Model.MissingKey(), c.AdapterMode, err)
		}
	}
	c, err := config.Load([]string{"MODEL_BACKEND=anthropic", "ANTHROPIC_API_KEY=k", "DEFAULT_ADAPTER_MODE=prompt"}, nil)
	if err != nil || c.Model.MissingKey() != "" || c.AdapterMode != "prompt" {
		t.Errorf("got %+v, %v", c.Model, err)
	}
	if _, err := config.Load([]string{"DEFAULT_ADAPTER_MODE=both"}, nil); err == nil {
		t.Error("an adapter mode nobody knows was taken")
	}
}

func TestEveryVariableHasALineOfHelpAndALegalDefault(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range config.Variables() {
		if v.Doc == "" || seen[v.Name] || (v.Flag != "" && seen["--"+v.Flag]) {
			t.Errorf("%s: no help, or named twice", v.Name)
		}
		seen[v.Name], seen["--"+v.Flag] = true, true
	}
}

// Requirements: OPS-07, CFG-13
// Requirements: FILE-08, OPS-12 (rate)
func TestWhatOnePersonMayBringInIsChosen(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"LIMINAL_UPLOAD_DOCUMENTS=500", "LIMINAL_UPLOAD_MB=2048", "LIMINAL_UPLOAD_RATE=3000"}, nil)
	if err != nil || c.Uploads != (config.Uploads{Documents: 500, Megabytes: 2048, PerMinute: 3000}) {
		t.Errorf("got %+v, %v", c.Uploads, err)
	}
	for _, odd := range []string{"LIMINAL_UPLOAD_DOCUMENTS=0", "LIMINAL_UPLOAD_MB=1.5", "LIMINAL_UPLOAD_RATE=-1"} {
		name, _, _ := strings.Cut(odd, "=")
		if _, err := config.Load([]string{odd}, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", odd, err)
		}
	}
}

func TestTheArchitectAndRecordingsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"LIMINAL_ARCHITECT=off", "LIMINAL_RECORDINGS=0d", "LIMINAL_RECORDINGS_MOST=0", "LIMINAL_LEARNING=off"}, nil)
	if err != nil || c.Changes != (config.Changes{Learning: config.LearningOff}) {
		t.Errorf("got %+v, %v", c.Changes, err)
	}
	for _, odd := range []string{"-1", "many", "1000000001"} {
		if _, err := config.Load([]string{"LIMINAL_RECORDINGS_MOST=" + odd}, nil); err == nil || !strings.Contains(err.Error(), "LIMINAL_RECORDINGS_MOST") {
			t.Errorf("%s recordings: %v", odd, err)
		}
	}
	if _, err := config.Load([]string{"LIMINAL_ARCHITECT=10m"}, nil); err == nil || !strings.Contains(err.Error(), "must be from 60m to 30d") {
		t.Errorf("an architect that never rests: %v", err)
	}
}

// Requirements: STREAM-09
func TestWhatBoundsAnAnswerIsASetting(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"LIMINAL_MODEL_SILENCE=10m": "", "LIMINAL_MODEL_SILENCE=1s": "must be from 5s to 60m", "LIMINAL_MODEL_SILENCE=90": "is not a duration",
		"LIMINAL_ANSWER_TOKENS=200000": "", "LIMINAL_ANSWER_TOKENS=0": "must be from 256 to 1000000",
	} {
		_, err := config.Load([]string{text}, nil)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
