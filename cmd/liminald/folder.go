package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/remote"
)

// lockName is the file beside exported documents that says which version of
// which artifact each was: what a change made of them is a change of.
const lockName = "artifacts.lock.json"

// kept is one artifact as a lock file knows it.
type kept struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// remoteArtifact is an artifact as the API shows it.
type remoteArtifact struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Visibility string          `json:"visibility"`
	Status     string          `json:"status"` // active or draft
	Version    int             `json:"version"`
	Schema     json.RawMessage `json:"schema"`
}

// document is a file with an artifact's document in it.
type document struct {
	file string
	kind string
	name string
	doc  json.RawMessage
	lock *kept // what it was exported from; nil: not known
}

func (d document) key() string { return d.kind + "/" + d.name }

// readDocuments reads the files and folders named. A folder gives every
// document below it; what a lock file beside or above says is kept with each.
func readDocuments(named []string) ([]document, error) {
	files, err := documentFiles(named)
	if err != nil {
		return nil, err
	}
	locks := map[string]map[string]kept{}
	var found []document
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", file, withoutPath(err))
		}
		if !json.Valid(doc) {
			return nil, fmt.Errorf("%s is not JSON: %s", file, jsonFault(doc))
		}
		d := document{file: file, kind: kindOf(doc), doc: doc}
		if d.kind == "" {
			return nil, fmt.Errorf(`%s does not say what it is; write "kind": "workflow.chat" or another kind`, file)
		}
		if d.name, err = url.PathUnescape(nameOf(file, doc)); err != nil {
			return nil, fmt.Errorf("%s: the file's name is not one that export writes: %w", file, err)
		}
		if d.lock, err = lockOf(locks, d); err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	if len(found) == 0 {
		return nil, usageError{errors.New("there is no document in what was named")}
	}
	return found, nil
}

func documentFiles(named []string) ([]string, error) {
	var files []string
	for _, name := range named {
		err := filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && filepath.Ext(path) == ".json" && e.Name() != lockName {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", name, withoutPath(err))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// lockOf finds what a lock file in the document's folder, or the one above,
// says of it.
func lockOf(locks map[string]map[string]kept, d document) (*kept, error) {
	dir := filepath.Dir(d.file)
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		lock, ok := locks[dir]
		if !ok {
			var err error
			if lock, err = readLock(dir); err != nil {
				return nil, err
			}
			locks[dir] = lock
		}
		if k, ok := lock[d.key()]; ok {
			return &k, nil
		}
	}
	return nil, nil //nolint:nilnil // not known is an answer
}

func readLock(dir string) (map[string]kept, error) {
	file := filepath.Join(dir, lockName)
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]kept{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, withoutPath(err))
	}
	lock := map[string]kept{}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file, err)
	}
	return lock, nil
}

func writeLock(dir string, lock map[string]kept) error {
	raw, err := json.MarshalIndent(lock, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, lockName), append(raw, '\n'), 0o644) //nolint:gosec // documents are no secrets
}

// server is the one the settings name, signed in to.
func (in *invocation) server(ctx context.Context) (*remote.Server, error) {
	conf, err := in.config()
	if err != nil {
		return nil, err
	}
	s, err := remote.SignIn(ctx, conf.Client.URL, in.accountOf(conf.Client))
	return s, reached(err)
}

// reached makes a server that is not there what exit codes know.
func reached(err error) error {
	if _, gone := errors.AsType[*remote.Unreachable](err); gone {
		return unreachableError{err}
	}
	return err
}

// shelfOf is every artifact the account may use.
func shelfOf(ctx context.Context, s *remote.Server, kind string) ([]remoteArtifact, error) {
	query := url.Values{}
	if kind != "" {
		query.Set("type", artifacts.Kind(kind))
	}
	all, err := remote.All[remoteArtifact](ctx, s, "/v1/artifacts", query)
	return all, reached(err)
}

// match finds a document's artifact: by the lock, else by kind and name, one's
// own before a global one unless that is asked for.
func match(all []remoteArtifact, d document, visibility string) (found remoteArtifact, ok bool) {
	for _, a := range all {
		switch {
		case d.lock != nil && a.ID == d.lock.ID:
			return a, true
		case a.Type != d.kind || a.Name != d.name || visibility != "" && a.Visibility != visibility:
		case !ok || found.Visibility == artifacts.Global:
			found, ok = a, true
		default:
		}
	}
	return found, ok
}

// fileOf is where export writes an artifact.
func fileOf(dir string, a remoteArtifact) string {
	return filepath.Join(dir, inName(a.Type), inName(a.Name)+".json")
}

// inName is a word of a server's as part of a path: it leads nowhere else.
func inName(word string) string { return strings.ReplaceAll(url.PathEscape(word), "..", "%2E%2E") }
