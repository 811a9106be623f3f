package config

import (
	"fmt"
	"slices"
	"strings"
)

// prefix marks the variables that are ours alone: an unknown one is a typing
// error, and silence about it would cost somebody an hour.
const prefix = "LIMINAL_"

// Mistakes is every fault found in the settings, one sentence each.
type Mistakes []string

func (m Mistakes) Error() string {
	if len(m) == 1 {
		return m[0]
	}
	return fmt.Sprintf("%d settings are wrong:\n  %s", len(m), strings.Join(m, "\n  "))
}

// Load makes a Config of environ (as os.Environ gives it) and of flags, which
// win; flags maps a flag's name to its text. Blank variables count as unset.
// The error, if any, is Mistakes.
func Load(environ []string, flags map[string]string) (Config, error) {
	env := pairs(environ)
	variables := Variables()
	var (
		c        Config
		mistakes = unknown(env, variables)
	)
	for _, v := range variables {
		where, text := v.text(env, flags)
		if text == "" {
			continue
		}
		if err := v.set(&c, text); err != nil {
			mistakes = append(mistakes, v.mistake(where, text, err))
		}
	}
	c.SurfaceTexts = surfaceTexts(env, variables)
	if len(mistakes) == 0 {
		mistakes = contradictions(c)
	}
	if len(mistakes) > 0 {
		return Config{}, mistakes
	}
	return c, nil
}

// text is the value that counts and the name of the place it came from.
func (v Variable) text(env, flags map[string]string) (where, text string) {
	if s, ok := flags[v.Flag]; ok && v.Flag != "" {
		return "--" + v.Flag, s
	}
	if s := strings.TrimSpace(env[v.Name]); s != "" {
		return v.Name, s
	}
	return v.Name, v.Default
}

func (v Variable) mistake(where, text string, err error) string {
	if v.Secret {
		return fmt.Sprintf("%s %s (its value is not shown)", where, err)
	}
	return fmt.Sprintf("%s=%s %s", where, text, err)
}

// contradictions are settings that are fine alone and wrong together.
func contradictions(c Config) Mistakes {
	var m Mistakes
	if c.RAG.Low > c.RAG.High {
		m = append(m, fmt.Sprintf("RAG_THRESHOLD_LOW=%g is above RAG_THRESHOLD_HIGH=%g", c.RAG.Low, c.RAG.High))
	}
	if c.RAG.Mode == "pgvector" && c.DatabaseURL == "" {
		m = append(m, "RAG_MODE=pgvector needs DATABASE_URL to name a PostgreSQL database")
	}
	if c.Adapters.Trainer == "command" && c.Adapters.Command == "" {
		m = append(m, "LIMINAL_TRAINER=command needs LIMINAL_TRAIN_COMMAND to name the trainer")
	}
	if c.Adapters.ServerDir != "" && c.Adapters.Dir == "" {
		m = append(m, "LIMINAL_LORA_SERVER_DIR needs LIMINAL_LORA_DIR to name the same folder here")
	}
	if c.Model.Backend == "scripted" && c.Model.Script == "" {
		m = append(m, "MODEL_BACKEND=scripted needs LIMINAL_MODEL_SCRIPT to name a script")
	}
	if c.Model.Backend == "process" && c.Model.Program == "" {
		m = append(m, "MODEL_BACKEND=process needs LIMINAL_MODEL_PROGRAM to name a program that speaks stream-json")
	}
	if slices.Contains(servers(), c.Model.Backend) && c.Model.OpenAIServer() == "" {
		m = append(m, fmt.Sprintf("MODEL_BACKEND=%s needs OPENAI_BASE_URL to name its server", c.Model.Backend))
	}
	if c.Model.Backend == "ollama" && c.Model.Name == "" {
		m = append(m, "MODEL_BACKEND=ollama needs LIMINAL_MODEL to name one of its models (ollama list)")
	}
	if (c.Embed.Encoder == "openai" || c.Embed.Encoder == "ollama") && c.Embed.Model == "" {
		m = append(m, fmt.Sprintf("LIMINAL_EMBEDDER=%s needs LIMINAL_EMBED_MODEL to name its model", c.Embed.Encoder))
	}
	if (c.Temporal.CertPath == "") != (c.Temporal.KeyPath == "") {
		m = append(m, "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH belong together; one of them is not set")
	}
	for _, set := range [][2]string{{"PALACE_UPSTREAM", c.Palace.Upstream}, {"PALACE_OPENAI_UPSTREAM", c.Palace.OpenAI}} {
		if c.Palace.loops(set[1]) {
			m = append(m, fmt.Sprintf("%s=%s is the capture proxy's own address (PALACE_ADDR); name the backend behind it", set[0], set[1]))
		}
	}
	return m
}

// unknown finds variables that carry our prefix and mean nothing.
func unknown(env map[string]string, variables []Variable) Mistakes {
	known := make(map[string]bool, len(variables))
	for _, v := range variables {
		known[v.Name] = true
	}
	var m Mistakes
	for _, name := range sortedKeys(env) {
		if strings.HasPrefix(name, prefix) && !known[name] {
			m = append(m, fmt.Sprintf("%s is no setting of this program%s", name, suggestion(name, variables)))
		}
	}
	return m
}
