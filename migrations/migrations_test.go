package migrations_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"liminal/migrations"
)

func files(texts ...string) fstest.MapFS {
	dir := fstest.MapFS{}
	for i := 0; i < len(texts); i += 2 {
		dir[texts[i]] = &fstest.MapFile{Data: []byte(texts[i+1])}
	}
	return dir
}

func read(t *testing.T, texts ...string) []migrations.Migration {
	t.Helper()
	all, err := migrations.Read(files(texts...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ledger(all []migrations.Migration) []migrations.Entry {
	var list []migrations.Entry
	for _, m := range all {
		list = append(list, migrations.Entry{Number: m.Number, Name: m.Name, Sum: m.Sum})
	}
	return list
}

func TestEveryDialectsFilesAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	embedded, err := migrations.Of(migrations.SQLite)
	if err != nil || len(embedded) == 0 || embedded[0].Name != "kernel" {
		t.Fatalf("%d files, %v", len(embedded), err)
	}
	server, err := migrations.Of(migrations.Postgres)
	if err != nil || len(server) != len(embedded) {
		t.Fatalf("%d files of one dialect, %d of the other, %v", len(server), len(embedded), err)
	}
	for i, m := range embedded {
		if m.Name != server[i].Name {
			t.Errorf("number %d is %s in one dialect and %s in the other", m.Number, m.Name, server[i].Name)
		}
	}
}

func TestPlanIsWhatTheLedgerLacks(t *testing.T) {
	t.Parallel()
	all := read(t, "0001_a.sql", "A", "0002_b.sql", "B", "0003_c.sql", "C")
	for n := range len(all) + 1 {
		pending, err := migrations.Plan(all, ledger(all[:n]))
		if err != nil || !slices.Equal(pending, all[n:]) {
			t.Errorf("after %d: %v, %v", n, pending, err)
		}
	}
}

func TestPlanRefusesAHistoryThatIsNotTheProgramsOwn(t *testing.T) {
	t.Parallel()
	applied := ledger(read(t, "0001_a.sql", "A", "0002_b.sql", "B"))
	for name, test := range map[string]struct {
		have []migrations.Migration
		says string
	}{
		"edited":   {read(t, "0001_a.sql", "A changed", "0002_b.sql", "B"), "0001_a was edited"},
		"renamed":  {read(t, "0001_a.sql", "A", "0002_x.sql", "B"), "0002_b where this program has 0002_x"},
		"inserted": {read(t, "0001_new.sql", "N", "0002_a.sql", "A", "0003_b.sql", "B"), "0001_a where this program has 0001_new"},
		"newer":    {read(t, "0001_a.sql", "A"), "newer than this program"},
	} {
		if _, err := migrations.Plan(test.have, applied); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want it to say %q", name, err, test.says)
		}
	}
}

func TestReadRefusesWrongNames(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]fstest.MapFS{
		"gap":        files("0001_a.sql", "", "0003_b.sql", ""),
		"twice":      files("0001_a.sql", "", "0001_b.sql", ""),
		"no zero":    files("0000_a.sql", ""),
		"no number":  files("first.sql", ""),
		"upper case": files("0001_A.sql", ""),
	} {
		if all, err := migrations.Read(dir); err == nil {
			t.Errorf("%s: read as %v", name, all)
		}
	}
}
