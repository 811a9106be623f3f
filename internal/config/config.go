// Package config turns environment variables and flags into one Config, and
// reports every mistake in them at once.
//
// It is the only reader of the environment: everything else is handed what it
// needs. It imports the standard library only.
package config

import (
	"path/filepath"
	"time"
)

// Config is everything an operator may choose. Load returns it complete and
// checked; nothing below needs to look for defaults.
type Config struct {
	// Data is the absolute path of the folder that holds everything: files,
	// the SQLite store, and the embedded Temporal server's files (DATA-16).
	Data string
	// Listen is the host:port of the API and the web client.
	Listen string
	// PublicURL is how people reach Listen from outside, without a trailing
	// slash; empty when they reach it directly.
	PublicURL string
	// AllowedHosts are further names by which people and programs reach Listen,
	// host or host:port; "*" is any.
	AllowedHosts []string
	// AllowedOrigins are origins of other programs' pages that may call the API with
	// an access key.
	AllowedOrigins []string
	// DatabaseURL is a PostgreSQL connection string of a role that owns nothing;
	// empty: SQLite under Data.
	DatabaseURL string
	// MigrateURL is the connection string of the role that owns the tables, for
	// migrations only; empty: DatabaseURL.
	MigrateURL string
	// AllowOldVector lets a pgvector older than 0.8.2 pass, with a warning.
	AllowOldVector bool
	// RedisURL is a Redis connection string; empty: hot state stays in process.
	RedisURL string
	// OpsListen is the host:port of a second listener with /healthz, /readyz and
	// /metrics, for probes and scrapers; empty: none.
	OpsListen string
	// AdapterMode is the mode of new adapters: local, remote, prompt or hybrid (LORA-05).
	AdapterMode string
	// EmbeddingDim is the length of every stored vector, always 64 (EMB-01).
	EmbeddingDim int

	Temporal Temporal
	Model    Model
	Adapters Adapters
	Embed    Embedding
	RAG      RAG
	Changes  Changes
	Web      Web
	Speech   Speech
	Sources  Sources
	Sessions Sessions
	Accounts Accounts
	Uploads  Uploads
	Mail     Mail
	Traces   Traces
	Log      Log
	Client   Client
	Palace   Palace

	// SurfaceTexts are variables that may be settings of surfaces, by name; Surface
	// reads them.
	SurfaceTexts map[string]string
}

// Temporal says where runs are kept.
type Temporal struct {
	// Address is the host:port of the Temporal cluster that `server` and
	// `worker` join. `dev` brings its own and does not look at it.
	Address string
	// Namespace is the namespace of every run.
	Namespace string
	// APIKey authenticates to Temporal Cloud; empty: none. It implies TLS.
	APIKey string
	// TLS turns TLS on; the paths and the name below do so by themselves.
	TLS bool
	// CertPath and KeyPath are the client's certificate for mTLS, CAPath the
	// authority of the server's; PEM files.
	CertPath, KeyPath, CAPath string
	// ServerName is the name the server's certificate is checked for.
	ServerName string
	// PayloadKeys encrypt what a history holds: "id:base64 of 32 bytes" each,
	// separated by commas. The first encrypts, all decrypt. Empty: no encryption.
	PayloadKeys string
	// Listen and UI are the host:port of the embedded server's gRPC side and
	// of its web UI; only `dev` opens them.
	Listen string
	UI     string
	// UIURL is the base of links into the Temporal web UI, without a trailing
	// slash; empty when there is none to link to.
	UIURL string
}

// Model says which language model answers.
type Model struct {
	// Backend is one of Backends.
	Backend string
	// Program is what MODEL_BACKEND=process starts for each question.
	Program string
	// Script is the file a scripted model plays.
	Script string
	// Name is the one model of every role; empty: those policy.models names, or
	// where it names none the backend's usual one.
	Name string
	// AnthropicURL and AnthropicKey reach Anthropic's API.
	AnthropicURL, AnthropicKey string
	// OpenAIURL and OpenAIKey reach the server of every other backend; an empty
	// URL is the backend's usual one. OpenAIVersion is Azure's api-version.
	OpenAIURL, OpenAIKey, OpenAIVersion string
	// AdapterCache is how many bytes adapters of a model in this process may have
	// in memory (LORA-17).
	AdapterCache int
	// Prices is a JSON file of what models cost, over the shipped ones; empty: none.
	Prices string
	// Silence is how long the model may say nothing before its answer is given up
	// (STREAM-09).
	Silence time.Duration
	// AnswerTokens is how many tokens one answer may have, whatever plan it is on.
	AnswerTokens int
	// Safety is who looks at what is said: rules, model or off (SAFE-01).
	Safety string
	// Reranker is auto or off: whether quotes are compared with the question by
	// meaning where the model for it lies in ModelsDir (RAG-12).
	Reranker string
}

// Embedding says how texts become vectors.
type Embedding struct {
	// Encoder is auto, hash, static, openai or ollama. auto takes a static model
	// from ModelsDir if exactly one lies there, else hash.
	Encoder string
	// Model is the encoder's model: a folder below ModelsDir, or its name on a server.
	Model string
	// URL and Key reach the server; an empty URL is that of the model's server,
	// or Ollama's usual one.
	URL, Key string
}

// Web says what of the world outside tools may reach.
type Web struct {
	// Allow are the hosts tools may fetch from: example.org, *.example.org for
	// what is below it, or * for every public one. Empty: nothing is fetched
	// (SAFE-05).
	Allow []string
	// Deny are the hosts they may not, whatever Allow says.
	Deny []string
	// TavilyKey, BraveKey and SearXNG are search providers; the first that is
	// set is used. None: nothing is searched for.
	TavilyKey, BraveKey, SearXNG string
}

// Speech says who turns recordings into text, and text into speech. A URL that
// is empty: nobody does.
type Speech struct {
	Transcriber, Speaker SpeechServer
	// Voice speaks where a person chose none.
	Voice string
}

// SpeechServer is a server that speaks OpenAI's protocol of audio.
type SpeechServer struct{ URL, Key, Model string }

// Sources says what of other people's databases is known here.
type Sources struct {
	// File is a JSON object of connection strings by name; empty: none.
	File string
	// MCP is a JSON file of MCP servers; empty: none.
	MCP string
	// Examples puts the data of packs into files of its own.
	Examples bool
	// Firm is what assistants call the house they work in (GRND-43).
	Firm string
}

// RAG says how passages are found.
type RAG struct {
	// Mode is local_hybrid (BM25 and exact cosine, in process) or pgvector.
	Mode string
	// TopK is how many passages an answer is made from, 1 to 50.
	TopK int
	// High and Low bound the average similarity, 0 to 1: at High and above the
	// confidence is high, below Low it is low and the person is asked (RAG-16).
	High, Low float64
}

// Sessions says how long a sign-in lasts (AUTH-04).
type Sessions struct {
	Access  time.Duration // 15 to 60 minutes
	Refresh time.Duration // 7 to 30 days
}

// Accounts says who may have an account, and where.
type Accounts struct {
	// SignUp is open, or closed: then only the first account can be made.
	SignUp string
	// Plan is the one new accounts begin on, free or paid.
	Plan string
	// Tenants are the tenants there are; the first is the default (ISO-12).
	Tenants []string
	// OAuthFile is a JSON file with the providers people may sign in with;
	// empty: none (AUTH-16).
	OAuthFile string
}

// Uploads bounds the documents of one person; 0: as their plan says. Who has yet
// to confirm an address gets no more by it (FILE-08).
type Uploads struct {
	Documents int // under way at once: sent, and not read yet
	Megabytes int // of them together, 2^20 bytes each; one by itself may be larger
	PerMinute int // files sent
}

// Mail says how mails leave.
type Mail struct {
	// URL is smtp://user:password@host:port (STARTTLS) or smtps://… ; empty:
	// mails are written to files below Data/outbox (G-11).
	URL string
	// From is the sender's address.
	From string
}

// Traces says where OpenTelemetry traces go (OBS-06).
type Traces struct {
	// Endpoint is the URL of an OTLP/HTTP collector; empty: no traces.
	Endpoint string
	// Service is the name of this service in traces.
	Service string
}

// Log says what is written to standard error.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // text or json
	// Payloads is the share of requests, 0 to 1, whose bodies are logged at
	// debug level, redacted (OBS-03).
	Payloads float64
}

// StoreFile is the SQLite file of the store.
func (c Config) StoreFile() string { return filepath.Join(c.Data, "state", "liminal.db") }

// OutboxDir is the folder mails are written to when no mail server is named.
func (c Config) OutboxDir() string { return filepath.Join(c.Data, "outbox") }

// Production reports whether people's data is kept in PostgreSQL and hot state
// in Redis, so that many processes may share them.
func (c Config) Production() bool { return c.DatabaseURL != "" && c.RedisURL != "" }

// ModelsDir is the folder of models that lie on disk, one folder each.
func (c Config) ModelsDir() string { return filepath.Join(c.Data, "shared", "models") }

// ToolsDir is the folder of what an installation's own tools need: programs and
// data that lie beside this one. Nothing here reads it.
func (c Config) ToolsDir() string { return filepath.Join(c.Data, "shared", "tools") }

// SourcesDir is the folder of the examples' data.
func (c Config) SourcesDir() string { return filepath.Join(c.Data, "shared", "sources") }

// TemporalDir is the folder of the embedded Temporal server.
func (c Config) TemporalDir() string { return filepath.Join(c.Data, "temporal") }
