package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/remote"
)

func artifactsCommand() command {
	return command{
		name:    "artifacts",
		takes:   "VERB DIR",
		summary: "keep artifacts in files: export, import, diff",
		about: `
Moves artifacts between a running server and files, for those who keep them in
git. The server is --url, or LIMINAL_URL; who you are is told by liminald login,
once, or LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

  export DIR   writes what you may use to DIR/KIND/NAME.json, and the versions
               it wrote to DIR/artifacts.lock.json
  diff DIR     tells what the files would change on the server
  import DIR   makes the files so on the server: a new version of what differs,
               a new artifact of what is not there, private unless --visibility
               says otherwise. It changes only what is yours to change, and
               refuses what has moved on since the export

DIR may be a file too, but for export. Nodes, rules and other items with an id
are compared by it, wherever they stand.

What should be rehearsed and approved first goes by "liminald patch" instead.`,
		examples: []string{
			"liminald artifacts export ./behaviour",
			"liminald artifacts diff ./behaviour --check",
			`liminald artifacts import ./behaviour --why "shorter answers"`,
		},
		settings: []string{"url"},
		flags:    artifactsFlags,
		run:      runArtifacts,
	}
}

type artifactsOptions struct {
	kind, visibility, why string
	check, json           bool
}

func artifactsFlags(fs *flag.FlagSet) any {
	o := &artifactsOptions{}
	fs.StringVar(&o.kind, "kind", "", "export: only artifacts of this kind, such as workflow")
	fs.StringVar(&o.visibility, "visibility", "", "only artifacts of this visibility; of new ones, private by default")
	fs.StringVar(&o.why, "why", "", "import: the reason, kept with each version")
	fs.BoolVar(&o.check, "check", false, "diff: exit 1 when anything differs")
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	return o
}

func runArtifacts(ctx context.Context, in *invocation) error {
	if len(in.args) < 2 {
		return usageError{errors.New("say what to do and where: export, diff or import, and a folder")}
	}
	verb, named := in.args[0], in.args[1:]
	o := in.own.(*artifactsOptions)
	switch verb {
	case "export":
		if len(named) > 1 {
			return usageError{fmt.Errorf("export writes to one folder; %q is another", named[1])}
		}
		return o.export(ctx, in, named[0])
	case "diff":
		return o.diff(ctx, in, named)
	case "import":
		return o.bring(ctx, in, named)
	}
	return usageError{fmt.Errorf("there is no verb %q; write export, diff or import", verb)}
}

// export writes every artifact to a file, and what it wrote to the lock.
func (o *artifactsOptions) export(ctx context.Context, in *invocation, dir string) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	all, err := shelfOf(ctx, server, o.kind)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(a remoteArtifact) bool { return a.Status == "draft" })
	lock, written := map[string]kept{}, []string{}
	for _, a := range all {
		d := document{kind: a.Type, name: a.Name}
		if o.visibility != "" && a.Visibility != o.visibility || artifacts.OnlyDescribes(a.Type, a.Name) || exported(lock, all, a) {
			continue
		}
		if err := writeDocument(fileOf(dir, a), a.Schema); err != nil {
			return err
		}
		lock[d.key()] = kept{ID: a.ID, Version: a.Version}
		written = append(written, fileOf(dir, a))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // documents are no secrets
		return err
	}
	if err := writeLock(dir, lock); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, written)
	}
	_, err = fmt.Fprintf(in.out, "%s written to %s\n", count(len(written), "document"), dir)
	return err
}

// exported reports whether another artifact has the file of this one: a
// person's own stands before the global one of its name, as it does in runs.
func exported(lock map[string]kept, all []remoteArtifact, a remoteArtifact) bool {
	if _, there := lock[a.Type+"/"+a.Name]; there {
		return true
	}
	nearest, _ := match(all, document{kind: a.Type, name: a.Name}, "")
	return nearest.ID != a.ID
}

func writeDocument(file string, doc json.RawMessage) error {
	var text bytes.Buffer
	if err := json.Indent(&text, doc, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // documents are no secrets
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644) //nolint:gosec // as above
}

// difference is what a file would change.
type difference struct {
	File  string          `json:"file"`
	Kind  string          `json:"kind"`
	Name  string          `json:"name"`
	ID    string          `json:"artifact_id,omitempty"` // empty: there is none yet
	Base  int             `json:"base_version,omitempty"`
	Now   int             `json:"current_version,omitempty"`
	Patch json.RawMessage `json:"patch,omitempty"`

	// Visibility is who sees what is there, or was made.
	Visibility string `json:"visibility,omitempty"`

	Created bool   `json:"created,omitempty"` // by an import
	Fault   string `json:"fault,omitempty"`   // of an import

	doc     json.RawMessage
	current json.RawMessage
	draft   bool // what is there only waits for the patch that makes it
}

// changes reports whether the file differs from what is on the server.
func (d difference) changes() bool { return d.ID == "" || d.Patch != nil }

// of is what a request must say of a new artifact. An empty visibility is left
// out: the server has one for those who say nothing.
func (d difference) of(visibility string) map[string]any {
	body := map[string]any{"type": d.Kind, "name": d.Name, "schema": d.doc}
	if visibility != "" {
		body["visibility"] = visibility
	}
	return body
}

// compare finds what files would change.
func compare(ctx context.Context, s *remote.Server, named []string, visibility string) ([]difference, error) {
	docs, err := readDocuments(named)
	if err != nil {
		return nil, err
	}
	all, err := shelfOf(ctx, s, "")
	if err != nil {
		return nil, err
	}
	out := make([]difference, len(docs))
	for i, d := range docs {
		out[i] = difference{File: d.file, Kind: d.kind, Name: d.name, doc: d.doc}
		a, there := match(all, d, visibility)
		if !there {
			continue
		}
		out[i].ID, out[i].Base, out[i].Now, out[i].current, out[i].draft = a.ID, a.Version, a.Version, a.Schema, a.Status == "draft"
		out[i].Visibility = a.Visibility
		if d.lock != nil {
			out[i].Base = d.lock.Version
		}
		if out[i].Patch, err = artifacts.Diff(a.Schema, d.doc); err != nil {
			return nil, fmt.Errorf("%s: %w", d.file, err)
		}
	}
	return out, nil
}

func (o *artifactsOptions) diff(ctx context.Context, in *invocation, named []string) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	found, err := compare(ctx, server, named, o.visibility)
	if err != nil {
		return err
	}
	differs := false
	for _, d := range found {
		differs = differs || d.changes()
	}
	if o.json {
		err = writeJSON(in.out, found)
	} else {
		err = printDifferences(in.out, found)
	}
	if err == nil && differs && o.check {
		err = shownError{exitFailed}
	}
	return err
}

func printDifferences(w io.Writer, found []difference) error {
	var b strings.Builder
	same := 0
	for _, d := range found {
		switch {
		case d.ID == "":
			fmt.Fprintf(&b, "%s: new %s %q\n", d.File, artifacts.Alias(d.Kind), d.Name)
		case d.Patch == nil:
			same++
		default:
			fmt.Fprintf(&b, "%s: %s %q, version %d\n", d.File, artifacts.Alias(d.Kind), d.Name, d.Now)
			writeOps(&b, d.current, d.Patch)
			if d.Base != d.Now {
				fmt.Fprintf(&b, "  ! exported from version %d; version %d has come since\n", d.Base, d.Now)
			}
		}
	}
	fmt.Fprintf(&b, "%s the same\n", count(same, "document"))
	_, err := io.WriteString(w, b.String())
	return err
}

// bring makes the server's artifacts what the files say, one by one; what
// fails is told, and the others are brought all the same.
func (o *artifactsOptions) bring(ctx context.Context, in *invocation, named []string) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	found, err := compare(ctx, server, named, o.visibility)
	if err != nil {
		return err
	}
	failed := false
	for i := range found {
		if err := o.write(ctx, server, &found[i]); err != nil {
			if _, gone := errors.AsType[*remote.Unreachable](err); gone {
				return reached(err)
			}
			found[i].Fault, failed = refusalOf(err), true
		}
	}
	if o.json {
		err = writeJSON(in.out, found)
	} else {
		err = printBrought(in.out, found)
	}
	if err == nil && failed {
		err = shownError{exitFailed}
	}
	return err
}

// write brings one document, and keeps the lock beside it true.
func (o *artifactsOptions) write(ctx context.Context, s *remote.Server, d *difference) error {
	if !d.changes() {
		return nil
	}
	var made remoteArtifact
	var err error
	if d.ID == "" {
		body := d.of(o.visibility)
		body["change_note"] = o.why
		err = s.Post(ctx, "/v1/artifacts", body, &made)
		d.Created = err == nil
	} else {
		err = s.Do(ctx, "PATCH", "/v1/artifacts/"+d.ID, map[string]any{"patch": d.Patch, "base_version": d.Base, "change_note": o.why}, &made)
	}
	if err != nil {
		return err
	}
	d.ID, d.Now, d.Visibility = made.ID, made.Version, made.Visibility
	return relock(*d)
}

// relock writes the new version into the lock the document was found in, if
// there is one.
func relock(d difference) error {
	dir := filepath.Dir(d.File)
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		lock, err := readLock(dir)
		if err != nil {
			return err
		}
		if len(lock) == 0 {
			continue
		}
		lock[d.Kind+"/"+d.Name] = kept{ID: d.ID, Version: d.Now}
		return writeLock(dir, lock)
	}
	return nil
}

func printBrought(w io.Writer, found []difference) error {
	var b strings.Builder
	for _, d := range found {
		switch {
		case d.Fault != "":
			fmt.Fprintf(&b, "%s: refused\n  %s\n", d.File, strings.ReplaceAll(d.Fault, "\n", "\n  "))
		case d.Created:
			fmt.Fprintf(&b, "%s: created %s %q, version %d, %s\n", d.File, artifacts.Alias(d.Kind), d.Name, d.Now, d.Visibility)
		case d.changes():
			fmt.Fprintf(&b, "%s: changed %s %q, version %d\n", d.File, artifacts.Alias(d.Kind), d.Name, d.Now)
		default:
			fmt.Fprintf(&b, "%s: the same\n", d.File)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
