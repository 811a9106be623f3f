package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"liminal/artifacts"
	"liminal/internal/config"
	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/sqlite"
	"liminal/internal/vault"
)

// sources are other people's databases: how they are reached, and who is who.
type sources struct {
	*data.Desk
	*secrets
	store *store.Store
}

// openSources makes the desk that tools with via.query ask.
func (p *Platform) openSources(ctx context.Context, o Options) (*sources, error) {
	kept, err := p.openSecrets(ctx, o)
	if err != nil {
		return nil, err
	}
	desk := data.NewDesk(data.Options{
		Drivers: map[string]data.Driver{data.Postgres: postgres.Foreign{}, data.SQLite: sqlite.Foreign{}},
		Secret:  kept.Secret, Logger: o.Logger,
		Foreign: func(_ context.Context, f data.Foreign) { p.metrics.ForeignRows(f.Tool, f.Rows) },
	})
	p.closes("the sources", desk.Close)
	return &sources{Desk: desk, secrets: kept, store: p.store}, nil
}

// KnownAs is who a person is to a source. One that knows people by their address
// does not know who has yet to confirm theirs: anybody may write any.
func (s *sources) KnownAs(ctx context.Context, v identity.Viewer, m data.Match) (string, error) {
	if v.UserID == "" || v.UserID == identity.SystemAccount {
		return "", fault.New(fault.Forbidden, "This data is read for a person, and this run is nobody's.")
	}
	u, earliest, err := s.store.KnownAs(ctx, v.UserID)
	switch {
	case err != nil:
		return "", err
	case m.Aliases != nil && earliest:
		return m.Aliases.First, nil
	case m.Aliases != nil:
		return m.Aliases.Others, nil
	case m.Match == "id":
		return u.ID, nil
	case u.Unverified:
		return "", fault.New(fault.Forbidden, "This data knows people by their address. Confirm yours first: the mail says how.")
	}
	return u.Email, nil
}

// secrets are the connection strings that artifacts name: of the operator's file,
// of administrators, of the examples, in this order.
type secrets struct {
	file     map[string]string
	examples map[string]string
	store    *store.Store
	vault    *vault.Vault
}

func (p *Platform) openSecrets(ctx context.Context, o Options) (*secrets, error) {
	key, err := p.store.Secret(ctx, "sources")
	if err != nil {
		return nil, fmt.Errorf("the key of sources: %w", err)
	}
	s := &secrets{store: p.store}
	if s.vault, err = vault.New(key, "liminal sources"); err != nil {
		return nil, err
	}
	if s.file, err = readSecrets(o.Config.Sources.File); err != nil {
		return nil, err
	}
	s.examples, err = placeExamples(ctx, o.Config)
	return s, err
}

func readSecrets(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // none are an answer
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_SOURCES_FILE: %w", err)
	}
	var found map[string]string
	if json.Unmarshal(raw, &found) != nil { // its error would repeat what stands there
		return nil, errors.New("LIMINAL_SOURCES_FILE is no JSON object of names and connection strings")
	}
	return found, nil
}

// placeExamples makes the files of the packs' data that are missing. One that is
// there stays as it is: somebody may have changed it.
func placeExamples(ctx context.Context, c config.Config) (map[string]string, error) {
	if !c.Sources.Examples {
		return nil, nil //nolint:nilnil // none are an answer
	}
	all, err := artifacts.Examples()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.SourcesDir())
	if err != nil {
		return nil, err
	}
	placed := map[string]string{}
	for pack, statements := range all {
		path := filepath.Join(dir, pack+".db")
		if err := sqlite.Place(ctx, path, statements); err != nil {
			return nil, fmt.Errorf("the example %s: %w", pack, err)
		}
		placed[artifacts.ExampleSecret(pack)] = path
	}
	return placed, nil
}

// Secret gives one; NotFound when nobody has set it.
func (s *secrets) Secret(ctx context.Context, name string) (string, error) {
	if v := s.file[name]; v != "" {
		return v, nil
	}
	sealed, err := s.store.Sealed(ctx, name)
	if errors.Is(err, fault.NotFound) && s.examples[name] != "" {
		return s.examples[name], nil
	}
	if err != nil {
		return "", err
	}
	v, err := s.vault.Open(name, sealed)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The secret %q does not open with this installation's key; set it again.", name)
	}
	return v, nil
}

// SetSecret keeps one, sealed; an empty one is forgotten. One that stands in the
// operator's file is that file's.
func (s *secrets) SetSecret(ctx context.Context, v identity.Viewer, name, value string) error {
	switch {
	case !v.IsAdmin():
		return fault.New(fault.Forbidden, "Only administrators set the secrets of sources.")
	case s.file[name] != "":
		return fault.New(fault.Conflict, "The secret %q stands in the file of the program's settings, and is changed there.", name)
	case value == "":
		return s.store.Seal(ctx, name, nil)
	}
	return s.store.Seal(ctx, name, s.vault.Seal(name, value))
}

// HasSecret reports whether one is set.
func (s *secrets) HasSecret(ctx context.Context, name string) (bool, error) {
	_, err := s.Secret(ctx, name)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// person is how assistants speak of a person and the house (GRND-15, GRND-43).
func (p *Platform) person(c config.Config) func(context.Context, identity.Viewer, string) (map[string]string, error) {
	return func(ctx context.Context, v identity.Viewer, locale string) (map[string]string, error) {
		said := map[string]string{"firm": c.Sources.Firm, "language": "English", "name": "a colleague", "office": c.Sources.Firm}
		if strings.HasPrefix(strings.ToLower(locale), "de") {
			said["language"] = "German"
		}
		if v.UserID == "" || v.IsSystem() {
			return said, nil
		}
		u, _, err := p.store.KnownAs(ctx, v.UserID)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(u.Email, "@")
		said["name"] = cmp.Or(u.Handle, name)
		chosen, err := p.store.Settings(ctx, v.UserID)
		if err != nil {
			return nil, err
		}
		said["office"] = cmp.Or(chosen.Location(), c.Sources.Firm)
		return said, nil
	}
}
