package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ready is what the ready file says once everything answers.
type ready struct {
	HTTP       string `json:"http,omitempty"` // a worker has none
	Temporal   string `json:"temporal"`
	TemporalUI string `json:"temporal_ui,omitempty"`
	Ops        string `json:"ops,omitempty"`    // of probes and metrics
	Palace     string `json:"palace,omitempty"` // the capture proxy, where it is served here
	Version    string `json:"version"`
}

// write puts the file in place at once, so that nobody reads half of it.
func (r ready) write(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ready-*")
	if err != nil {
		return fmt.Errorf("the ready file %s cannot be written: %w", path, withoutPath(err))
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the ready file %s cannot be written: %w", path, withoutPath(err)), os.Remove(f.Name()))
	}
	return nil
}

// forget removes a ready file of an earlier life; none is fine.
func forgetReady(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the old ready file %s cannot be removed: %w", path, withoutPath(err))
	}
	return nil
}
