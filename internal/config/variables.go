package config

import "time"

const day = 24 * time.Hour

// Variable is one setting: how it is named, what it means, and how its text
// becomes part of a Config.
type Variable struct {
	Name    string // in the environment
	Flag    string // without dashes; empty when it has none
	Default string // as text; empty means unset
	Doc     string // one line
	Secret  bool   // its value must not be shown

	set func(c *Config, text string) error
}

// Variables lists every setting there is, in the order help shows them.
func Variables() []Variable {
	return append(append(places(), behaviour()...), process()...)
}

// places are the settings that say where things are.
func places() []Variable {
	return []Variable{
		{
			Name: "SHARED_FS_ROOT", Flag: "data", Default: "./.liminal",
			Doc: "folder of all data: files, SQLite store, embedded Temporal",
			set: func(c *Config, s string) error { return folder(&c.Data, s) },
		},
		{
			Name: "LIMINAL_LISTEN", Flag: "listen", Default: "127.0.0.1:8080",
			Doc: "host:port of the API and the web client; port 0 picks a free one",
			set: func(c *Config, s string) error { return hostPort(&c.Listen, s) },
		},
		{
			Name: "LIMINAL_PUBLIC_URL", Doc: "URL people reach the API under, when it is not the address above",
			set: func(c *Config, s string) error { return webURL(&c.PublicURL, s) },
		},
		{
			Name: "DATABASE_URL", Secret: true, Doc: "PostgreSQL connection string; unset: SQLite in the data folder",
			set: func(c *Config, s string) error { return schemeURL(&c.DatabaseURL, s, "postgres", "postgresql") },
		},
		{
			Name: "REDIS_URL", Secret: true, Doc: "Redis connection string; unset: hot state stays in process",
			set: func(c *Config, s string) error { return schemeURL(&c.RedisURL, s, "redis", "rediss") },
		},
		{
			Name: "TEMPORAL_ADDRESS", Default: "127.0.0.1:7233",
			Doc: "host:port of the Temporal cluster that server and worker join; dev brings its own",
			set: func(c *Config, s string) error { return hostPort(&c.Temporal.Address, s) },
		},
		{
			Name: "TEMPORAL_NAMESPACE", Default: "default", Doc: "Temporal namespace of every run",
			set: func(c *Config, s string) error { return nonEmpty(&c.Temporal.Namespace, s) },
		},
		{
			Name: "LIMINAL_TEMPORAL_LISTEN", Flag: "temporal", Default: "127.0.0.1:7233",
			Doc: "host:port of the embedded Temporal server; port 0 picks a free one",
			set: func(c *Config, s string) error { return hostPort(&c.Temporal.Listen, s) },
		},
		{
			Name: "LIMINAL_TEMPORAL_UI", Flag: "temporal-ui", Default: "127.0.0.1:8233",
			Doc: "host:port of the embedded Temporal web UI; port 0 picks a free one",
			set: func(c *Config, s string) error { return hostPort(&c.Temporal.UI, s) },
		},
		{
			Name: "LIMINAL_TEMPORAL_UI_URL", Doc: "URL of a Temporal web UI to link runs to; dev links to its own",
			set: func(c *Config, s string) error { return webURL(&c.Temporal.UIURL, s) },
		},
	}
}

// behaviour are the settings that change what an answer is made of.
func behaviour() []Variable {
	return []Variable{
		{
			Name: "MODEL_BACKEND", Default: "extractive",
			Doc: "extractive quotes documents and needs no model; scripted plays LIMINAL_MODEL_SCRIPT",
			set: func(c *Config, s string) error { return oneOf(&c.Model.Backend, s, "extractive", "scripted") },
		},
		{
			Name: "LIMINAL_MODEL_SCRIPT", Doc: "script of MODEL_BACKEND=scripted",
			set: func(c *Config, s string) error { return file(&c.Model.Script, s) },
		},
		{
			Name: "DEFAULT_ADAPTER_MODE", Default: "hybrid", Doc: "mode of new adapters: local, remote, prompt or hybrid",
			set: func(c *Config, s string) error {
				return oneOf(&c.AdapterMode, s, "local", "remote", "prompt", "hybrid")
			},
		},
		{
			Name: "EMBEDDING_DIM", Default: "64", Doc: "length of stored vectors; only 64 is supported",
			set: func(c *Config, s string) error { return integer(&c.EmbeddingDim, s, 64, 64) },
		},
		{
			Name: "RAG_MODE", Default: "local_hybrid", Doc: "local_hybrid searches in process, pgvector in PostgreSQL",
			set: func(c *Config, s string) error { return oneOf(&c.RAG.Mode, s, "local_hybrid", "pgvector") },
		},
		{
			Name: "RAG_TOP_K", Default: "8", Doc: "passages an answer is made from, 1 to 50",
			set: func(c *Config, s string) error { return integer(&c.RAG.TopK, s, 1, 50) },
		},
		{
			Name: "RAG_THRESHOLD_HIGH", Default: "0.75", Doc: "average similarity from which confidence is high, 0 to 1",
			set: func(c *Config, s string) error { return fraction(&c.RAG.High, s) },
		},
		{
			Name: "RAG_THRESHOLD_LOW", Default: "0.5", Doc: "average similarity below which the person is asked, 0 to 1",
			set: func(c *Config, s string) error { return fraction(&c.RAG.Low, s) },
		},
	}
}

// process are the settings of the running program itself.
func process() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_ACCESS_TTL", Default: "30m", Doc: "lifetime of an access token, 15m to 60m",
			set: func(c *Config, s string) error {
				return duration(&c.Sessions.Access, s, 15*time.Minute, time.Hour)
			},
		},
		{
			Name: "LIMINAL_REFRESH_TTL", Default: "14d", Doc: "lifetime of a sign-in that is not used, 7d to 30d",
			set: func(c *Config, s string) error { return duration(&c.Sessions.Refresh, s, 7*day, 30*day) },
		},
		{
			Name: "LIMINAL_LOG_LEVEL", Flag: "log-level", Default: "info", Doc: "debug, info, warn or error",
			set: func(c *Config, s string) error { return oneOf(&c.Log.Level, s, "debug", "info", "warn", "error") },
		},
		{
			Name: "LIMINAL_LOG_FORMAT", Default: "text", Doc: "text for people, json for machines",
			set: func(c *Config, s string) error { return oneOf(&c.Log.Format, s, "text", "json") },
		},
	}
}
