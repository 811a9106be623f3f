package config

import (
	"slices"
	"time"
)

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
	return slices.Concat(places(), temporal(), models(), adapters(), encoders(), behaviour(), changes(), webAccess(), speech(), sources(), people(), process(), client(), palace())
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
			Name: "LIMINAL_ALLOWED_HOSTS", Doc: "further names this server is reached by, host or host:port, separated by commas; * is any name",
			set: func(c *Config, s string) error { return hosts(&c.AllowedHosts, s) },
		},
		{
			Name: "LIMINAL_ALLOWED_ORIGINS", Doc: "origins of other programs' pages that may call the API with an access key, such as https://inbox.example.org, separated by commas",
			set: func(c *Config, s string) error { return origins(&c.AllowedOrigins, s) },
		},
		{
			Name: "DATABASE_URL", Secret: true, Doc: "PostgreSQL connection string; unset: SQLite in the data folder",
			set: func(c *Config, s string) error { return schemeURL(&c.DatabaseURL, s, "postgres", "postgresql") },
		},
		{
			Name: "LIMINAL_MIGRATE_URL", Secret: true, Doc: "connection string of the owner of the tables, for migrate; unset: DATABASE_URL",
			set: func(c *Config, s string) error { return schemeURL(&c.MigrateURL, s, "postgres", "postgresql") },
		},
		{
			Name: "LIMINAL_ALLOW_OLD_PGVECTOR", Default: "false",
			Doc: "true accepts a pgvector before 0.8.2, which can leak or crash while it builds an index in parallel",
			set: func(c *Config, s string) error { return boolean(&c.AllowOldVector, s) },
		},
		{
			Name: "REDIS_URL", Secret: true, Doc: "Redis connection string; unset: hot state stays in process",
			set: func(c *Config, s string) error { return schemeURL(&c.RedisURL, s, "redis", "rediss") },
		},
		{
			Name: "LIMINAL_OPS_LISTEN", Doc: "host:port of a second listener with /healthz, /readyz and /metrics only",
			set: func(c *Config, s string) error { return hostPort(&c.OpsListen, s) },
		},
	}
}

// temporal are the settings of the workflow engine. Those that begin with
// TEMPORAL_ are named as Temporal's own tools name them.
func temporal() []Variable {
	return []Variable{
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
		{
			Name: "TEMPORAL_API_KEY", Secret: true, Doc: "API key of Temporal Cloud; turns TLS on",
			set: func(c *Config, s string) error { return nonEmpty(&c.Temporal.APIKey, s) },
		},
		{
			Name: "TEMPORAL_TLS", Default: "false", Doc: "true speaks TLS to the cluster",
			set: func(c *Config, s string) error { return boolean(&c.Temporal.TLS, s) },
		},
		{
			Name: "TEMPORAL_TLS_CLIENT_CERT_PATH", Doc: "PEM file of this client's certificate, for mTLS",
			set: func(c *Config, s string) error { return file(&c.Temporal.CertPath, s) },
		},
		{
			Name: "TEMPORAL_TLS_CLIENT_KEY_PATH", Doc: "PEM file of the key of that certificate",
			set: func(c *Config, s string) error { return file(&c.Temporal.KeyPath, s) },
		},
		{
			Name: "TEMPORAL_TLS_SERVER_CA_CERT_PATH", Doc: "PEM file of the authority that signed the cluster's certificate",
			set: func(c *Config, s string) error { return file(&c.Temporal.CAPath, s) },
		},
		{
			Name: "TEMPORAL_TLS_SERVER_NAME", Doc: "name the cluster's certificate is checked for",
			set: func(c *Config, s string) error { return nonEmpty(&c.Temporal.ServerName, s) },
		},
		{
			Name: "LIMINAL_PAYLOAD_KEYS", Secret: true, Doc: "keys that encrypt histories, as id:base64[,id:base64]; the first encrypts",
			set: func(c *Config, s string) error { return nonEmpty(&c.Temporal.PayloadKeys, s) },
		},
	}
}

// sources are the settings of other people's databases.
func sources() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_SOURCES_FILE", Doc: "JSON file of connection strings by the names that data.source artifacts give them; what stands in it wins over what administrators set",
			set: func(c *Config, s string) error { return file(&c.Sources.File, s) },
		},
		{
			Name: "LIMINAL_MCP_FILE", Doc: "JSON file of MCP servers, the object mcpServers that clients share: the programs that mcp.server artifacts may name, and addresses in an own network that they may reach",
			set: func(c *Config, s string) error { return file(&c.Sources.MCP, s) },
		},
		{
			Name: "LIMINAL_EXAMPLES", Default: "false", Doc: "true puts the invented data of packs below shared/sources in the data folder, for whoever tries the program; dev does",
			set: func(c *Config, s string) error { return boolean(&c.Sources.Examples, s) },
		},
		{
			Name: "FIRM_NAME", Default: "HLC", Doc: "what assistants call the house they work in",
			set: func(c *Config, s string) error { return nonEmpty(&c.Sources.Firm, s) },
		},
	}
}

// people are the settings of accounts and mails.
func people() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_SIGNUP", Default: "open", Doc: "open lets anybody make an account; closed only the first",
			set: func(c *Config, s string) error { return oneOf(&c.Accounts.SignUp, s, "open", "closed") },
		},
		{
			Name: "LIMINAL_PLAN", Default: "free", Doc: "free or paid: the plan new accounts begin on",
			set: func(c *Config, s string) error { return oneOf(&c.Accounts.Plan, s, "free", "paid") },
		},
		{
			Name: "LIMINAL_TENANTS", Default: "default", Doc: "tenants, separated by commas; the first is the default",
			set: func(c *Config, s string) error { return names(&c.Accounts.Tenants, s) },
		},
		{
			Name: "LIMINAL_OAUTH_FILE", Doc: "JSON file of the providers people may sign in with",
			set: func(c *Config, s string) error { return file(&c.Accounts.OAuthFile, s) },
		},
		{
			Name: "LIMINAL_UPLOAD_DOCUMENTS", Doc: "documents of one person that may be sent and not read yet, 1 to 100000; unset: 64, in a paid plan 256",
			set: func(c *Config, s string) error { return integer(&c.Uploads.Documents, s, 1, 100_000) },
		},
		{
			Name: "LIMINAL_UPLOAD_MB", Doc: "megabytes of them together, 1 to 1000000; one by itself may be larger; unset: 512, in a paid plan 4096",
			set: func(c *Config, s string) error { return integer(&c.Uploads.Megabytes, s, 1, 1_000_000) },
		},
		{
			Name: "LIMINAL_UPLOAD_RATE", Doc: "files one person may send in a minute, 1 to 100000; unset: 600, in a paid plan 1200",
			set: func(c *Config, s string) error { return integer(&c.Uploads.PerMinute, s, 1, 100_000) },
		},
		{
			Name: "LIMINAL_SMTP_URL", Secret: true, Doc: "smtp:// or smtps:// URL of the mail server; unset: mails are files below outbox",
			set: func(c *Config, s string) error { return schemeURL(&c.Mail.URL, s, "smtp", "smtps") },
		},
		{
			Name: "LIMINAL_MAIL_FROM", Default: "liminal@localhost", Doc: "sender of mails",
			set: func(c *Config, s string) error { return nonEmpty(&c.Mail.From, s) },
		},
	}
}

// behaviour are the settings that change what an answer is made of.
func behaviour() []Variable {
	return []Variable{
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
			Name: "LIMINAL_REFRESH_TTL", Default: "7d", Doc: "lifetime of a sign-in that is not used, 7d to 30d",
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
		{
			Name: "LIMINAL_LOG_PAYLOADS", Default: "0", Doc: "share of requests, 0 to 1, whose redacted bodies are logged at debug level",
			set: func(c *Config, s string) error { return fraction(&c.Log.Payloads, s) },
		},
		{
			Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Doc: "URL of an OTLP/HTTP collector of traces; unset: no traces",
			set: func(c *Config, s string) error { return webURL(&c.Traces.Endpoint, s) },
		},
		{
			Name: "OTEL_SERVICE_NAME", Default: "liminal", Doc: "name of this service in traces",
			set: func(c *Config, s string) error { return nonEmpty(&c.Traces.Service, s) },
		},
	}
}
