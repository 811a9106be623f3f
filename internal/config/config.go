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
	// DatabaseURL is a PostgreSQL connection string; empty: SQLite under Data.
	DatabaseURL string
	// RedisURL is a Redis connection string; empty: hot state stays in process.
	RedisURL string
	// AdapterMode is the mode of new adapters: local, remote, prompt or hybrid (LORA-05).
	AdapterMode string
	// EmbeddingDim is the length of every stored vector, always 64 (EMB-01).
	EmbeddingDim int

	Temporal Temporal
	Model    Model
	RAG      RAG
	Sessions Sessions
	Log      Log
}

// Temporal says where runs are kept.
type Temporal struct {
	// Address is the host:port of the Temporal cluster that `server` and
	// `worker` join. `dev` brings its own and does not look at it.
	Address string
	// Namespace is the namespace of every run.
	Namespace string
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
	// Backend is extractive (quotes documents, needs nothing) or scripted (plays Script).
	Backend string
	// Script is the file a scripted model plays.
	Script string
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

// Log says what is written to standard error.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // text or json
}

// StoreFile is the SQLite file of the store.
func (c Config) StoreFile() string { return filepath.Join(c.Data, "state", "liminal.db") }

// TemporalDir is the folder of the embedded Temporal server.
func (c Config) TemporalDir() string { return filepath.Join(c.Data, "temporal") }
