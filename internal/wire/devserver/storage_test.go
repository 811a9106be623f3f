package devserver

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"go.temporal.io/server/schema"
)

// Each index of the lists costs every run two writes; the server's schema has
// some seventy. A file of an earlier version, which kept more, loses them too.
func TestTheListsHaveTheIndexesThatAreNeededAndNoOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lists := filepath.Join(dir, "temporal-lists.db")
	script, err := fs.ReadFile(schema.Assets(), listSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := buildFile(t.Context(), lists, string(script)); err != nil {
		t.Fatal(err)
	}
	indexes := func() (names []string) {
		err := inFile(t.Context(), lists, func(ctx context.Context, tx *sql.Tx) (err error) {
			names, err = listIndexes(ctx, tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if n := len(indexes()); n < 50 {
		t.Fatalf("the server's own schema has %d indexes; this test knew of some seventy", n)
	}
	if _, err := openFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	got, want := indexes(), slices.Clone(keptIndexes)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("it has %v, want %v: an upgrade of the server may have renamed some", got, want)
	}
}
