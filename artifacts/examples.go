package artifacts

import (
	"io/fs"
	"path"
	"strings"
)

// Examples are the invented data of packs by the name of the pack: statements
// that make them in a new database, packs/<pack>/data/<pack>.sql.
func Examples() (map[string]string, error) {
	names, err := fs.Glob(files, "packs/*/data/*.sql")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found[strings.TrimSuffix(path.Base(name), ".sql")] = string(raw)
	}
	return found, nil
}

// ExampleSecret is the name of the connection string of a pack's data.
func ExampleSecret(pack string) string { return pack + "_url" }
