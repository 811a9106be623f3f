package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dialect is what only one database understands, or understands differently.
var dialect = regexp.MustCompile(`(?i)::|\bnow\(|\bANY\s*\(|\bFOR UPDATE\b|\bSKIP LOCKED\b|\bdatetime\(|\bstrftime\(|\bunixepoch\(|\bjson_|->|\bINSERT OR\b|\bREPLACE INTO\b|` +
	`\bWITH\b[^)]*\b(INSERT|UPDATE|DELETE)\b|\browid\b|\bMATCH\b|\bGLOB\b|\bILIKE\b|\bifnull\(|\?\d*|\$\d|\bdelivered = [01]\b|@system = `)

// statement is a text that begins like SQL.
var statement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|EXISTS|\()\b`)

func TestTheBodyIsPortable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range literals(t, file) {
			if !statement.MatchString(text) {
				continue
			}
			n++
			if found := dialect.FindString(text); found != "" {
				t.Errorf("%s: %q is of one dialect, in %s", file, found, text)
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d statements were seen", n)
	}
}

// mine are tables with a person's rows. message and interrupt carry user_id
// beside their parent's; a chunk and a document are guarded by their context.
var mine = regexp.MustCompile(`\b(FROM|UPDATE|INTO|JOIN) (conversation|message|run|interrupt|blob|file|idempotency|preference_event|recording|lesson|learning_settings|turn_audit|turn_count|connection|act|webhook|webhook_event|webhook_delivery|webhook_subscriber|store_item|palace_[a-z]+)\b`)

// everybodys are the statements that look at all people's rows on purpose:
// the reconciler's two lists and what it marks, the sweep of keys and their release, the figures' counts, what only
// the system or an administrator counts and lists (of their tenant), what they are told of each account, whether
// there ever was a run, who is due to be learnt from or shares what they say, whose trainings wait, what became of
// the runs of an adapter, what couriers of webhooks claim and settle, the keys of runs of which nothing is kept, for what seals on their behalf and for the
// sweep that forgets them, and reads by a key derived from a row that was checked.
var everybodys = regexp.MustCompile(`WHERE status IN \('running', 'waiting'\) AND started_at|WHERE NOT delivered AND status <> 'pending' AND (answered_at|id IN)|WHERE q\.status = 'queued'|FROM idempotency WHERE expires_at <= @now|status = 0 AND route <> @any|GROUP BY status$|SELECT min\(created_at\) FROM run WHERE status IN|` +
	`SELECT runHead FROM run WHERE $|u\.tenant_id = @tenant|FROM recording WHERE at >= @since|SELECT run_id, body FROM recording|SELECT 1 FROM run WHERE id > @none LIMIT 1|SELECT at FROM recording|DELETE FROM recording WHERE run_id IN|WHERE i\.status = 'pending' AND CAST\(r\.pins AS text\) LIKE @pinned|[kf]\.user_id IN  GROUP BY [kf]\.user_id|` +
	`FROM palace_spool p WHERE p\.user_id = u\.id|WHERE p\.policy_id = @policy|SELECT user_id FROM run WHERE id = @run|\(l\.waiting OR l\.dirty\) AND l\.personal|FROM learning_settings WHERE shared|FROM training_job j\s+JOIN app_user u|FROM training_job j JOIN preference_event e|FROM adapter_run u JOIN run r|SELECT secret FROM run_key WHERE id = @id$|FROM run_key WHERE forget_at <= @now|` +
	`FROM webhook_(event|delivery)( d JOIN webhook w ON| WHERE id IN| WHERE (id > @none|status = 'waiting' AND next_at|lease IS NOT NULL|ended_at <))|UPDATE webhook_delivery SET (lease|status = @status)|` +
	`UPDATE webhook SET failing_since = NULL|FROM webhook WHERE tenant_id (> '' AND enabled|= @tenant)$|FROM webhook w WHERE w\.id = @id$|FROM webhook_delivery d WHERE d\.status = 'waiting'|webhook_subscriber (WHERE user_id = @whose|\(user_id\) VALUES \(@whose)`)

// Requirements: ISO-01
func TestEveryStatementNamesThePerson(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("*.go")
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range whole(t, file) {
			if !mine.MatchString(text) {
				continue
			}
			if n++; !strings.Contains(text, "@user") && !everybodys.MatchString(text) {
				t.Errorf("%s: no person in %s", file, text)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d statements were seen", n)
	}
}

func literals(t *testing.T, file string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// whole returns the statements of a file with their parts joined.
func whole(t *testing.T, file string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text := joined(e)
		if statement.MatchString(text) {
			texts = append(texts, text)
			return false
		}
		return true
	})
	return texts
}

// joined is the text of a literal, or of a sum of them; names stand as they are.
func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.Ident:
		return e.Name
	case *ast.BinaryExpr:
		return joined(e.X) + joined(e.Y)
	}
	return ""
}
