package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"liminal/internal/config"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/local"
	"liminal/internal/model/textfile"
	"liminal/internal/telemetry"
)

// textFile is the backend whose model reads and writes files.
const textFile = "textfile"

// localLoRA is the backend whose model runs in this process.
const localLoRA = "local_lora"

// modelOf is the language model of the settings.
func (p *Platform) modelOf(o Options) (model.Model, error) {
	if o.Config.Model.Backend == "extractive" {
		return extractive.Model{Meaning: theReranker(o.Config, o.Logger)}, nil
	}
	if o.Config.Model.Backend == textFile {
		return textfile.New(textfile.Options{Folder: o.Config.ResponseDir, Turn: telemetry.RunOf}), nil
	}
	if o.Config.Model.Backend != localLoRA {
		m, err := theModel(o.Config.Model, o.Logger)
		if err != nil {
			return nil, err
		}
		if waits, ok := m.(io.Closer); ok { // a program that was started ahead
			p.closes("the language model", waits.Close)
		}
		c := o.Config.Model
		return p.composes(o, m, RemoteServer{Backend: c.Backend, URL: c.OpenAIServer(), Key: c.OpenAIKey, Model: c.Name})
	}
	dir, err := LocalModel(o.Config)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return absent{name: localLoRA, missing: "put the folder of a model into " + o.Config.ModelsDir() + ", or make a small one with: liminald models make"}, nil
	}
	// It is not closed: its files are mapped, and the last answer may still read
	// them while the rest shuts down.
	m, err := local.Open(local.Options{
		Dir: dir, Root: o.Config.Data, Rules: extractive.Model{}, AdapterBytes: o.Config.Model.AdapterCache,
		Asked: func(hit bool) { p.metrics.AdapterRead(hit) }, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	p.metrics.WatchLocalModel(func() telemetry.LocalModel { return localFigures(m) })
	return m, nil
}

// localFigures are what the model in this process tells of itself.
func localFigures(m *local.Model) telemetry.LocalModel {
	e, a := m.Stats()
	return telemetry.LocalModel{
		Rows: e.Rows, Most: m.Rows(), Waiting: e.Waiting, Kept: e.Kept, Read: e.Prompt, Reused: e.Reused, Written: e.Answered,
		Requests: e.Requests, Cancelled: e.Cancelled, Passes: e.Steps, PassRows: e.StepRows, Memory: e.Memory,
		Adapters: a.Adapters, AdapterBytes: a.Bytes, AdaptersEvicted: a.Evicted,
	}
}

// LocalModel is the folder of the language model that runs in this process: the
// one LIMINAL_MODEL names, or the only one there is; empty: there is none.
func LocalModel(c config.Config) (dir string, err error) {
	if name := c.Model.Name; name != "" {
		if strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
			return "", fmt.Errorf("LIMINAL_MODEL=%s is not the name of a folder in %s", name, c.ModelsDir())
		}
		dir := filepath.Join(c.ModelsDir(), name)
		if !serve.IsModel(dir) {
			return "", fmt.Errorf("LIMINAL_MODEL=%s, and %s holds no language model: liminald models list shows those there are", name, dir)
		}
		return dir, nil
	}
	found, err := LocalModels(c.ModelsDir())
	switch {
	case err != nil || len(found) == 0:
		return "", err
	case len(found) > 1:
		return "", fmt.Errorf("MODEL_BACKEND=%s, and %s holds %s: name one with LIMINAL_MODEL", localLoRA, c.ModelsDir(), strings.Join(found, ", "))
	}
	return filepath.Join(c.ModelsDir(), found[0]), nil
}

// LocalModels are the folders of dir that hold a language model, by name.
func LocalModels(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if serve.IsModel(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
