package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"liminal/internal/identity"
)

// MigrateFiles is Migrate with files of a test's own.
var MigrateFiles = migrate

var (
	// checked are the statements of the store; counts of whole tables and what
	// has lost its predicates are tests' own.
	checked = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE)`)
	tests   = regexp.MustCompile(`^SELECT count\(\*\) FROM \w+$|\b(WHERE|AND|OR|\() ?true\b`)
	// whole are scans that stop at once or read what is small for good.
	whole = regexp.MustCompile(`Seq Scan on (app_user u|app_user|counter|training_job|adapter_router_state|model_backend)$`)
)

var (
	checkedPlans sync.Map // statements whose plans have been looked at
	checking     sync.Mutex
)

// CheckPlans fails for statements of the store that read a whole table because
// no index serves them. The role is the program's: an operator that is not
// leakproof loses its index under row-level security, and this shows it.
func CheckPlans(t testing.TB, db *DB) {
	t.Helper()
	checking.Lock()
	defer checking.Unlock()
	var fresh []statement
	db.statements.seen.Range(func(text, s any) bool {
		if _, known := checkedPlans.LoadOrStore(text, true); !known {
			fresh = append(fresh, s.(statement))
		}
		return true
	})
	if len(fresh) == 0 {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	err := db.within(ctx, beginWrite, identity.System(), func(ctx context.Context, c *pgx.Conn) error {
		if _, err := c.Exec(ctx, `SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = force_generic_plan`); err != nil {
			return err
		}
		for i, s := range fresh {
			if err := checkPlan(ctx, t, c, fmt.Sprint("checked", i), s); err != nil {
				return fmt.Errorf("%w in %s", err, s.text)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func checkPlan(ctx context.Context, t testing.TB, c *pgx.Conn, name string, s statement) error {
	t.Helper()
	if !checked.MatchString(s.text) || tests.MatchString(s.text) {
		return nil
	}
	if _, err := c.Exec(ctx, "PREPARE "+name+" AS "+s.text); err != nil {
		return err
	}
	explain := "EXPLAIN EXECUTE " + name
	if n := len(s.names); n > 0 {
		explain += "(" + strings.TrimSuffix(strings.Repeat("NULL,", n), ",") + ")"
	}
	rows, err := c.Query(ctx, explain, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, step := range steps {
		scan, _, _ := strings.Cut(strings.TrimLeft(step, " ->"), "  (")
		if strings.HasPrefix(scan, "Seq Scan") && !whole.MatchString(scan) {
			t.Errorf("%s\nin %s\n%s", scan, s.text, strings.Join(steps, "\n"))
		}
	}
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "DEALLOCATE "+name)
	return err
}
