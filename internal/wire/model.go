package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"

	"liminal/internal/config"
	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/extractive"
	"liminal/internal/model/openai"
	"liminal/internal/model/process"
	"liminal/internal/model/scripted"
	"liminal/internal/model/textfile"
)

// Model is the language model a configuration names, for who asks it without a
// platform around it. Nobody is asked yet.
func Model(c config.Model, log *slog.Logger) (model.Model, error) { return theModel(c, log) }

// theModel is the language model a configuration names.
func theModel(c config.Model, log *slog.Logger) (model.Model, error) {
	backend, known := model.BackendOf(c.Backend)
	if !known {
		return nil, fmt.Errorf("MODEL_BACKEND=%q is no backend of this program", c.Backend)
	}
	if missing := c.MissingKey(); missing != "" {
		return absent{name: cmp.Or(c.Name, c.Backend), missing: "set " + missing}, nil
	}
	switch c.Backend {
	case localLoRA:
		return nil, errors.New("a model of this process is opened with its data folder")
	case "extractive":
		return extractive.Model{}, nil
	case textFile: // folders of surfaces are known to the platform alone
		return textfile.New(textfile.Options{Folder: config.Config{}.ResponseDir}), nil
	case "process":
		return process.New(process.Options{Program: c.Program}), nil
	case "scripted":
		script, err := scripted.Load(c.Script)
		if err != nil {
			return nil, err
		}
		return scripted.New(script), nil
	}
	s := modelServer{backend: backend, url: c.OpenAIServer(), key: c.OpenAIKey, model: c.Name, version: c.OpenAIVersion}
	if c.Backend == "anthropic" {
		s.url, s.key = c.AnthropicURL, c.AnthropicKey
	}
	return s.open(log)
}

// modelServer is the server of a model.
type modelServer struct {
	backend                  model.Backend
	url, key, model, version string
	http                     *http.Client // nil: the protocol's own
}

// open makes the model behind it, and asks nobody.
func (s modelServer) open(log *slog.Logger) (model.Model, error) {
	if s.backend.Name == "anthropic" {
		return anthropic.New(anthropic.Options{BaseURL: s.url, APIKey: s.key, Model: s.model, Backend: s.backend, HTTP: s.http})
	}
	return openai.New(openai.Options{ // every other speaks the protocol of OpenAI
		BaseURL: s.url, APIKey: s.key, Model: s.model, Backend: s.backend, APIVersion: s.version, HTTP: s.http, Logger: log,
	})
}

// rolesOf is the backend whose models policy.models names: none when the
// settings name one model, which then has every role.
func rolesOf(c config.Model) string {
	if c.Name != "" {
		return ""
	}
	return c.Backend
}

// absent is a model whose key, or folder, is not there: the program runs, and
// what needs the model is told what has to be done (OPS-08).
type absent struct{ name, missing string }

// Name implements model.Model.
func (a absent) Name() string { return a.name }

// Generative implements model.Model.
func (absent) Generative() bool { return true }

// OnLoopback is true: nobody is asked.
func (absent) OnLoopback() bool { return true }

// Stream implements model.Model.
func (a absent) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { yield(model.Event{}, a.Configured()) }
}

// Configured says what is missing.
func (a absent) Configured() error {
	return fault.New(fault.Internal, "The language model is not set up: the operator has to %s.", a.missing).
		With(map[string]any{"reason": fault.NotConfigured})
}
