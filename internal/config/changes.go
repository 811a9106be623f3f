package config

import "time"

// Changes says how behaviour is changed (001 §10).
type Changes struct {
	// Recordings is how long runs are kept for rehearsals; 0: none are kept.
	Recordings time.Duration
	// RecordingsMost is how many of them are kept at most; 0: no bound.
	RecordingsMost int
	// Architect is the pause between two runs of the graph that proposes
	// changes; 0: it never runs (CFG-13).
	Architect time.Duration
	// Learning says what is learnt from what people say of answers: LearningOff,
	// LearningText or LearningFull.
	Learning string
	// Redacted shows what the calls of a run were given and gave without
	// secrets and personal data, also to whose run it is.
	Redacted bool
}

// Client says which server `patch` and `artifacts` talk to, and as whom.
type Client struct {
	URL   string // without a trailing slash
	Token string // an access token; empty: a session that is kept, or User and Password
	User  string // an e-mail address
	// Password is that of User.
	Password string
}

// What is learnt from what people say of answers.
const (
	LearningOff  = "off"  // nothing; what they say is kept
	LearningText = "text" // lessons that models are told
	LearningFull = "full" // and, where a model runs in this process, weights
)

const (
	leastArchitect = time.Hour
	mostRecordings = 365 * day
	mostKept       = 1_000_000_000
)

// changes are the settings of ConfigOps.
func changes() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_RECORDINGS", Default: "30d", Doc: "how long ended runs are kept for rehearsals, up to 365d; 0d keeps none",
			set: func(c *Config, s string) error { return duration(&c.Changes.Recordings, s, 0, mostRecordings) },
		},
		{
			// A recording has 1 to 3 KB, so that these have about a gigabyte.
			Name: "LIMINAL_RECORDINGS_MOST", Default: "500000", Doc: "how many of them are kept at most, at 1 to 3 KB each; the oldest go first; 0: no bound",
			set: func(c *Config, s string) error { return integer(&c.Changes.RecordingsMost, s, 0, mostKept) },
		},
		{
			Name: "LIMINAL_ARCHITECT", Default: "1d", Doc: "how often the architect looks for changes to propose, 1h to 30d; off: never",
			set: func(c *Config, s string) error {
				if s == "off" {
					c.Changes.Architect = 0
					return nil
				}
				return duration(&c.Changes.Architect, s, leastArchitect, 30*day)
			},
		},
		{
			Name: "LIMINAL_LEARNING", Default: LearningFull, Doc: "full, text or off: what is learnt from what people say of answers. text: lessons that models are told; full: with MODEL_BACKEND=local_lora, weights too",
			set: func(c *Config, s string) error {
				return oneOf(&c.Changes.Learning, s, LearningFull, LearningText, LearningOff)
			},
		},
		{
			Name: "LIMINAL_REDACT_RUNS", Default: "false", Doc: "true shows the inputs and outputs of a run's steps redacted, to whose run it is too, and tells no questions in Operate, Usage",
			set: func(c *Config, s string) error { return boolean(&c.Changes.Redacted, s) },
		},
	}
}

// client are the settings of the commands that talk to a running server.
func client() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_URL", Flag: "url", Default: "http://127.0.0.1:8080", Doc: "server that login, patch and artifacts talk to",
			set: func(c *Config, s string) error { return webURL(&c.Client.URL, s) },
		},
		{
			Name: "LIMINAL_TOKEN", Secret: true, Doc: "access token or access key for it; unset: the session that liminald login keeps, or LIMINAL_USER and LIMINAL_PASSWORD",
			set: func(c *Config, s string) error { return nonEmpty(&c.Client.Token, s) },
		},
		{
			Name: "LIMINAL_USER", Doc: "e-mail address to sign in with",
			set: func(c *Config, s string) error { return nonEmpty(&c.Client.User, s) },
		},
		{
			Name: "LIMINAL_PASSWORD", Secret: true, Doc: "password of LIMINAL_USER",
			set: func(c *Config, s string) error { return nonEmpty(&c.Client.Password, s) },
		},
	}
}
