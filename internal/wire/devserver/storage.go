package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

// retention is how long a finished run stays readable in the UI.
const retention = 30 * 24 * time.Hour

// searchAttributes maps a column of the lists to the name people search by.
// The columns are fixed here because their indexes are (see keptIndexes), and
// because a name must mean the same column after every restart.
var searchAttributes = map[string]string{
	"Keyword01": "liminal_user",
	"Keyword02": "liminal_conversation",
	"Keyword03": "liminal_status",
	"Keyword04": "liminal_artifact",
	"Int01":     "liminal_version",
}

// keptIndexes are the indexes of the lists that find few of many runs: the
// newest, those of an id, a person, a conversation or a schedule, those that run
// or wait. The server's schema has some seventy, and each one slows every run;
// what else people search by is found by reading the newest first.
var keptIndexes = []string{
	"default_idx", "by_workflow_id", "by_status", "by_root_workflow_id", "by_temporal_scheduled_by_id",
	"by_keyword_01", "by_keyword_02", "by_keyword_03",
}

// The server's own schema scripts, one for each of the two files.
const (
	runSchema  = "sqlite/v3/temporal/schema.sql"
	listSchema = "sqlite/v3/visibility/schema.sql"
)

// shards of the files: more would do more at once, but each run slower.
const shards = 1

// openFiles makes what is missing of the folder, the two files, their schema
// and the namespace. The lists are apart because they would otherwise wait for,
// and hold up, every write of a run.
//
// The server keeps a connection to each file until the process ends, also after
// Stop: a second server on the same folder shares it.
func openFiles(ctx context.Context, dir string) (Databases, error) {
	if err := makeDir(dir); err != nil {
		return Databases{}, err
	}
	runs := filepath.Join(dir, "temporal.db")
	lists := filepath.Join(dir, "temporal-lists.db")
	if err := makeFile(ctx, runs, runSchema); err != nil {
		return Databases{}, fmt.Errorf("the file %s cannot be made: %w", runs, err)
	}
	if err := makeFile(ctx, lists, listSchema); err != nil {
		return Databases{}, fmt.Errorf("the file %s cannot be made: %w", lists, err)
	}
	if err := inFile(ctx, lists, dropUnusedIndexes); err != nil { // one made by an earlier version has more
		return Databases{}, fmt.Errorf("the file %s cannot be changed: %w", lists, err)
	}
	files := Databases{Runs: sqlConfig(runs), Lists: sqlConfig(lists), Shards: shards}
	if err := makeNamespace(files.Runs); err != nil {
		return Databases{}, fmt.Errorf("the file %s cannot be read; it may be damaged or of another version: %w", runs, err)
	}
	for kind, c := range map[sqlplugin.DbKind]*config.SQL{sqlplugin.DbKindMain: files.Runs, sqlplugin.DbKindVisibility: files.Lists} {
		if _, err := keepStatements(kind, c); err != nil {
			return Databases{}, fmt.Errorf("the file %s cannot be opened: %w", c.DatabaseName, err)
		}
	}
	return files, nil
}

// sqlConfig opens a file so that it outlives a killed process (a power cut may
// cost the last moments: production is PostgreSQL) at a fraction of the cost of
// SQLite's defaults: 245 instead of 83 runs a second.
func sqlConfig(path string) *config.SQL {
	return &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: escaped(path),
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"journal_mode": "wal",
			"synchronous":  "1",
			"busy_timeout": "5000",
		},
	}
}

// escaped lets a path with a question mark or a percent sign stand in a
// SQLite file URI.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// makeFile makes the file from a schema script of the server unless it is there.
// It is built under another name, so that a process killed half-way leaves no
// half-made file behind.
func makeFile(ctx context.Context, path, schemaScript string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	script, err := fs.ReadFile(schema.Assets(), schemaScript)
	if err != nil {
		return err
	}
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := buildFile(ctx, unfinished, string(script)); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

func buildFile(ctx context.Context, path, script string) error {
	return inFile(ctx, path, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, script)
		return err
	})
}

// inFile changes a file in one transaction.
func inFile(ctx context.Context, path string, change func(context.Context, *sql.Tx) error) (err error) {
	db, err := sql.Open("sqlite", "file:"+escaped(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after a commit
	if err := change(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func makeNamespace(c *config.SQL) error {
	ns, err := sqlite.NewNamespaceConfig(clusterName, Namespace, false, nil)
	if err != nil {
		return err
	}
	ns.Detail.Config.Retention = durationpb.New(retention)
	ns.Detail.Config.CustomSearchAttributeAliases = searchAttributes
	return sqlite.CreateNamespaces(c, ns)
}

// dropUnusedIndexes leaves the lists the indexes that are kept.
func dropUnusedIndexes(ctx context.Context, tx *sql.Tx) error {
	names, err := listIndexes(ctx, tx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(keptIndexes, name) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DROP INDEX "`+name+`"`); err != nil {
			return err
		}
	}
	return nil
}

func listIndexes(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM sqlite_master
		WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
