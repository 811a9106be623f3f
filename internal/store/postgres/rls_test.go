package postgres_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/storetest"
)

// kept are the rows of one person that no method of the store writes yet, and
// rows of nobody that people must not see. A is the person, artifact theirs.
const kept = `
INSERT INTO user_auth_provider (id, user_id, provider, provider_uid) SELECT gen_random_uuid(), id, 'github', '7' FROM app_user WHERE is_active;
INSERT INTO user_auth_factor (user_id, secret) SELECT id, '\x00' FROM app_user;
INSERT INTO semantic_cluster (id, user_id, centroid) SELECT gen_random_uuid(), id, '\x00' FROM app_user;
INSERT INTO adapter_router_state (artifact_id) SELECT id FROM artifact;
INSERT INTO training_job (id, adapter_id, user_id) SELECT gen_random_uuid(), id, owner_user_id FROM artifact;
INSERT INTO adapter_weights (adapter_id, version, user_id, base_sha, rank, path) SELECT id, 1, owner_user_id, '', 4, 'p' FROM artifact;
INSERT INTO adapter_lineage (adapter_id, version, event_id, user_id, side) SELECT w.adapter_id, 1, e.id, e.user_id, 'train' FROM adapter_weights w, preference_event e;
INSERT INTO erasure (path) VALUES ('p');
INSERT INTO config_patch_approval (patch_id, user_id) SELECT id, gen_random_uuid() FROM config_patch;
INSERT INTO model_backend_change (id, backend, actor_id, action) SELECT gen_random_uuid(), 'office', id, 'added' FROM app_user;
INSERT INTO adapter_run (run_id, adapter_id, version, weight) SELECT r.id, a.id, 1, 1 FROM run r, artifact a WHERE r.kind = 'chat';
INSERT INTO payload (id, value) VALUES ('h', '\x00');
INSERT INTO secret (name, value) VALUES ('s', '\x00');
INSERT INTO counter (name, value) VALUES ('c', 1);
INSERT INTO plan_version (plan, version, numbers) VALUES ('free', 1, '{}');
INSERT INTO turn_audit (turn_id, user_id, surface, session_id, model) SELECT gen_random_uuid(), id, 'paliadin', 's', 'm' FROM app_user;
INSERT INTO turn_count (user_id, surface, hour_bucket) SELECT id, 'paliadin', now() FROM app_user;
INSERT INTO connection (user_id, name, sealed, scopes) SELECT id, 'x', '\x00', '[]' FROM app_user;
INSERT INTO oauth_client (id, name, redirects) VALUES (gen_random_uuid(), 'p', '[]');
INSERT INTO oauth_secret (sha256, kind, key_id, user_id, client_id, expires_at) SELECT id, 'code', id, user_id, 'x', now() FROM access_key;
INSERT INTO store_item (user_id, namespace, key, value, size) SELECT id, 'n', 'k', '{}', 2 FROM app_user;
INSERT INTO run_key (id, user_id, secret) SELECT id, user_id, '\x00' FROM run WHERE kind = 'chat';
INSERT INTO act (run_id, effect_id, attempt, user_id, tool, begun_at) SELECT id, 'e', 1, user_id, 't', now() FROM run WHERE kind = 'chat';
INSERT INTO webhook (id, user_id, channel, events, assistants) SELECT gen_random_uuid(), id, 'http', '[]', '[]' FROM app_user WHERE is_active;
INSERT INTO webhook_subscriber (user_id) SELECT user_id FROM webhook;
INSERT INTO webhook_event (id, user_id, kind, run_id) SELECT gen_random_uuid(), user_id, 'run.done', id FROM run WHERE kind = 'chat';
INSERT INTO webhook_delivery (id, webhook_id, user_id, subject_id, kind) SELECT gen_random_uuid(), id, user_id, user_id, 'run.done' FROM webhook;
INSERT INTO palace_agent (id, user_id, number, name, project, kind, created_at, seen_at) SELECT gen_random_uuid(), id, 1, 'n', 'p', 'main', now(), now() FROM app_user WHERE is_active;
INSERT INTO palace_lineage (id, user_id, agent_id, key, run, why, fork, length, sent, digest, input, output, open, summarised, model, exchanges, created_at, seen_at) SELECT gen_random_uuid(), user_id, id, 'k', '', '', 0, 1, 1, 'd', 1, 1, false, false, 'm', 1, now(), now() FROM palace_agent;
INSERT INTO palace_exchange (user_id, id, number, kind, name, project, run, method, path, query, model, status, stop, request_id, started_at, complete, cut_by, error, masked, asked_size, asked_hash, asked_lost, answered_size, answered_hash, answered_lost, input, cache_read, write_5m, write_1h, output) SELECT user_id, gen_random_uuid(), 1, 'main', 'n', 'p', '', 'POST', '/', '', 'm', 200, '', '', now(), true, '', '', false, 1, 'h', '', 1, 'h', '', 1, 1, 1, 1, 1 FROM palace_agent;
INSERT INTO palace_chunk (user_id, hash, size, body) SELECT user_id, 'h', 1, '\x00' FROM palace_agent;
INSERT INTO palace_block (id, user_id, generation, key, hash, sum, type, role, tool, scope, project, channels, tier, tier_by, active, tokens, size, label, exchange_id, form, chunk, start, created_at) SELECT gen_random_uuid(), user_id, 0, 'k', 'h', '', 'User', 'user', '', 'project', 'p', '[]', 'MEDIUM', 'rule', true, 1, 1, 'l', id, 'json', 'h', 0, now() FROM palace_exchange;
INSERT INTO palace_display (user_id, display_id, generation, block_id) SELECT user_id, 0, 1, id FROM palace_block;
INSERT INTO palace_timeline (user_id, lineage_id, position, block_id) SELECT b.user_id, l.id, 0, b.id FROM palace_block b JOIN palace_lineage l ON l.user_id = b.user_id;
INSERT INTO palace_sent (user_id, exchange_id, epoch, client, why, refused, size, hash, edits) SELECT user_id, id, 1, 'k', 'view', '', 1, 'h', '\x00' FROM palace_exchange;
INSERT INTO palace_epoch (user_id, client, number, why, doc, opened_at) SELECT user_id, 'k', 1, 'cold', '{}', now() FROM palace_agent;
INSERT INTO palace_spool (user_id, segment) SELECT user_id, 's' FROM palace_agent;
INSERT INTO palace_plan (lineage_id, user_id, policy_version, exchanges, plan, made_at) SELECT id, user_id, 1, 1, '{}', now() FROM palace_lineage;
INSERT INTO palace_wish (lineage_id, block_id, user_id, wish, made_at) SELECT lineage_id, block_id, user_id, '++', now() FROM palace_timeline;
INSERT INTO palace_classification (id, user_id, lineage_id, who, shown, answer, refused, took_us, made_at) SELECT gen_random_uuid(), user_id, id, 'model', 1, '++0', '', 1, now() FROM palace_lineage;
INSERT INTO palace_note (id, user_id, lineage_id, says, model, state, made_at) SELECT gen_random_uuid(), user_id, id, 's', 'm', 'proposed', now() FROM palace_lineage;
INSERT INTO palace_note_block (note_id, block_id, user_id) SELECT n.id, b.id, n.user_id FROM palace_note n JOIN palace_block b ON b.user_id = n.user_id;
INSERT INTO palace_event (id, user_id, who, what, why, made_at) SELECT gen_random_uuid(), user_id, 'person', 'starred', '', now() FROM palace_lineage;
INSERT INTO palace_cost (user_id, exchange_id, kind, model, at, day, input, cache_read, write_5m, write_1h, output, list_price, place, reason, missed) SELECT user_id, id, 'main', 'm', now(), '2026-11-28', 1, 1, 1, 1, 1, false, '', '', 0 FROM palace_exchange;
INSERT INTO palace_cache (user_id, state) SELECT user_id, '\x00' FROM palace_agent;
INSERT INTO palace_prompt (lineage_id, user_id, state) SELECT id, user_id, '\x00' FROM palace_lineage;
INSERT INTO palace_part (user_id, chunk, block_id) SELECT user_id, chunk, id FROM palace_block;
INSERT INTO palace_segment (user_id, name, taken_at) SELECT user_id, 's', now() FROM palace_agent;
INSERT INTO palace_key (user_id, sealed) SELECT user_id, '\x00' FROM palace_agent;
INSERT INTO surface_count (surface, hour_bucket) VALUES ('paliadin', now());
INSERT INTO person_numbers (user_id, numbers) SELECT id, '{}' FROM app_user;
INSERT INTO audit_event (by_id, what, user_id) SELECT id, 'user.changed', id FROM app_user;`

// nobodys are tables that only the system may look into.
var nobodys = map[string]bool{"oauth_client": true, "payload": true, "secret": true, "counter": true, "erasure": true, "plan_version": true, "person_numbers": true, "audit_event": true, "model_backend": true, "model_backend_change": true}

// common are numbers of everybody together, which each person counts and reads.
var common = map[string]bool{"surface_count": true}

// decided narrows what an administrator must not read in a table: they decide
// on everybody's proposals, and answer what the system's own runs ask.
var decided = map[string]string{
	"config_patch": " WHERE false", "config_patch_change": " WHERE false", "config_patch_event": " WHERE false", "config_patch_approval": " WHERE false",
	"turn_audit": " WHERE false", "paliadin_turns": " WHERE false", // GRND-31: administrators read everybody's
	"run": " WHERE kind <> 'patch'", "interrupt": " WHERE run_id IN (SELECT id FROM run WHERE kind <> 'patch')",
}

// possessed is a database in which one person has a row in every table.
func possessed(t *testing.T) (d postgrestest.Database, owner identity.Viewer) {
	d = postgrestest.Fresh(t)
	db := postgrestest.Open(t, d.App, postgres.Options{})
	owner = storetest.Possess(t, storetest.Backend{Store: store.New(db, store.Options{Running: -1}), Index: postgres.NewIndex(db, postgres.IndexOptions{})})
	postgrestest.Exec(t, d.Super, kept)
	return d, owner
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func tables(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace = 'public'::regnamespace
		AND relname <> 'migration' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 30 {
		t.Fatalf("%d tables, %v", len(names), err)
	}
	return names
}

// as runs a statement as the program would for a person, and rolls it back.
func as(t *testing.T, conn *pgx.Conn, settings, statement string, args ...any) (changed int64, err error) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if settings != "" {
		if _, err := tx.Exec(t.Context(), settings); err != nil {
			t.Fatal(err)
		}
	}
	tag, err := tx.Exec(t.Context(), statement, args...)
	return tag.RowsAffected(), err
}

func someone(person string) string { return "SET LOCAL app.user_id = '" + person + "'" }

// Requirements: ISO-02, RAG-18
func TestNoTableLeaksToAnotherPersonWithoutAPredicate(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	super, conn := connect(t, d.Super), connect(t, d.App)
	strangers := map[string]string{
		"another person": someone(id.New()), "nobody": "", "after a transaction": "SET LOCAL app.user_id = ''",
		"an administrator": someone(id.New()) + "; SET LOCAL app.admin = 'on'",
	}
	for _, table := range tables(t, super) {
		if n, _ := as(t, super, "", "SELECT FROM "+table); n == 0 {
			t.Errorf("%s has no row of the person; give it one in kept", table)
		}
		for who, settings := range strangers {
			if common[table] && strings.HasPrefix(settings, "SET LOCAL app.user_id = '") && !strings.HasSuffix(settings, "''") {
				continue
			}
			read := "SELECT FROM " + table
			if who == "an administrator" {
				read += decided[table]
			}
			for _, statement := range []string{read, "DELETE FROM " + table, touch(t, super, table)} {
				if n, err := as(t, conn, settings, statement); n != 0 || err != nil {
					t.Errorf("%s: %s: %d rows, %v", who, statement, n, err)
				}
			}
			forge(t, super, conn, table, settings)
		}
		if n, err := as(t, conn, someone(owner.UserID), "SELECT FROM "+table); (n == 0) != nobodys[table] || err != nil {
			t.Errorf("the person sees %d rows of %s, %v", n, table, err)
		}
		if n, err := as(t, conn, "SET LOCAL app.system = 'on'", "SELECT FROM "+table); n == 0 || err != nil {
			t.Errorf("the system sees %d rows of %s, %v", n, table, err)
		}
	}
}

// touch is an update of a table that changes nothing it could be refused for.
func touch(t *testing.T, super *pgx.Conn, table string) string {
	t.Helper()
	var column string
	err := super.QueryRow(t.Context(), `SELECT column_name FROM information_schema.columns WHERE table_name = $1 AND table_schema = 'public'
		AND is_identity = 'NO' ORDER BY ordinal_position DESC LIMIT 1`, table).Scan(&column)
	if err != nil {
		t.Fatal(err)
	}
	return "UPDATE " + table + " SET " + column + " = " + column
}

// forge tries to write the person's own row as somebody else.
func forge(t *testing.T, super, conn *pgx.Conn, table, settings string) {
	t.Helper()
	var row string
	if err := super.QueryRow(t.Context(), "SELECT to_jsonb(x)::text FROM "+table+" x LIMIT 1").Scan(&row); err != nil {
		t.Fatal(err)
	}
	_, err := as(t, conn, settings, "INSERT INTO "+table+" OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::"+table+", $1::text::jsonb)", row)
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
		t.Errorf("a forged row of %s: %v, want it refused by row-level security", table, err)
	}
}

// Requirements: ISO-02
func TestEveryTableForcesRowLevelSecurity(t *testing.T) {
	t.Parallel()
	conn := connect(t, postgrestest.New(t).Super)
	for _, table := range tables(t, conn) {
		var forced, view bool
		var policies int
		err := conn.QueryRow(t.Context(), `SELECT relkind = 'r' AND relrowsecurity AND relforcerowsecurity OR relkind = 'v' AND 'security_invoker=true' = ANY (reloptions),
			relkind = 'v', (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid) FROM pg_class c WHERE c.oid = $1::text::regclass`, table).Scan(&forced, &view, &policies)
		if err != nil || !forced || policies == 0 && !view {
			t.Errorf("%s: forced %t, %d policies, %v; close it with app_guard in its migration", table, forced, policies, err)
		}
	}
}

// Who reads the names of the specification sees what the tables under them show:
// a person their own rows, an administrator everybody's (GRND-31).
//
// Requirements: GRND-28 (the view), GRND-31 (own rows; administrators all; row-level security; indexes), GRND-32 (the view)
func TestAuditsAreTheirPersonsAndTheAdministrators(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	super, conn := connect(t, d.Super), connect(t, d.App)
	stranger := someone(id.New())
	for _, table := range []string{"turn_audit", "paliadin_turns"} {
		all, err := as(t, super, "", "SELECT FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		for settings, want := range map[string]int64{
			someone(owner.UserID): 1, stranger: 0, "": 0, stranger + "; SET LOCAL app.admin = 'on'": all,
		} {
			if n, err := as(t, conn, settings, "SELECT FROM "+table); n != want || err != nil {
				t.Errorf("%q sees %d rows of %s, want %d: %v", settings, n, table, want, err)
			}
		}
	}
	if n, err := as(t, conn, someone(owner.UserID), `SELECT turn_id, user_id, session_id, started_at, finished_at, model, input_tokens, output_tokens, tool_calls, prompt_hash, response_hash,
		chip_count, error_code, estimated_cost_usd, user_message, response, used_tools, rows_seen, classifier_tag, page_origin, abandoned, duration_ms FROM paliadin_turns`); n != 1 || err != nil {
		t.Errorf("the columns that are named: %d, %v", n, err)
	}
	if n, err := as(t, super, "", `SELECT FROM information_schema.columns WHERE table_name = 'paliadin_turns' AND column_name = 'estimated_cost_usd' AND numeric_precision = 10 AND numeric_scale = 6`); n != 1 || err != nil {
		t.Errorf("the cost is no numeric(10,6): %d, %v", n, err)
	}
	if n, err := as(t, conn, someone(owner.UserID), "SELECT user_id, hour_bucket, turn_count FROM paliadin_rate_limit"); n != 1 || err != nil {
		t.Errorf("their counts: %d, %v", n, err)
	}
	if n, err := as(t, super, "", `SELECT FROM pg_indexes WHERE tablename = 'turn_audit' AND (indexdef LIKE '%(user_id, started_at DESC)' OR indexdef LIKE '%(started_at DESC)')`); n != 2 || err != nil {
		t.Errorf("%d of the two indexes, %v", n, err)
	}
}

// A person's own row is not theirs to give to everybody.
//
// Requirements: ISO-02, ISO-07
func TestOnlyAnAdministratorMakesARowGlobal(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	conn := connect(t, d.App)
	for _, table := range []string{"artifact", "knowledge_context"} {
		publish := "UPDATE " + table + " SET visibility = 'global' WHERE owner_user_id = app_person()"
		_, err := as(t, conn, someone(owner.UserID), publish)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
			t.Errorf("%s: a person published it: %v", table, err)
		}
		if n, err := as(t, conn, someone(owner.UserID)+"; SET LOCAL app.admin = 'on'", publish); n == 0 || err != nil {
			t.Errorf("%s: an administrator published %d, %v", table, n, err)
		}
	}
}

// Requirements: ISO-02, RAG-18
func TestTheSearchDecidesItselfWhatAPersonMaySee(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	conn := connect(t, d.App)
	const (
		vectors = "SELECT FROM search_vectors($1::text[]::uuid[], NULL, $2::text::vector, 10, 100)"
		words   = "SELECT FROM search_words($1::text[]::uuid[], NULL, 'secret', 'secret', 10, 100)"
	)
	var contexts []string
	if err := connect(t, d.Super).QueryRow(t.Context(), "SELECT array_agg(id::text) FROM knowledge_context").Scan(&contexts); err != nil {
		t.Fatal(err)
	}
	for who, settings := range map[string]string{"owner": someone(owner.UserID), "stranger": someone(id.New()), "nobody": ""} {
		byVector, errVector := as(t, conn, settings, vectors, contexts, "[1,0,0,0,0,0,0,0]")
		byWords, errWords := as(t, conn, settings, words, contexts)
		if err := errors.Join(errVector, errWords); err != nil {
			t.Fatal(err)
		}
		if found := byVector == 1 && byWords == 1; found != (who == "owner") || byVector != byWords {
			t.Errorf("%s finds %d by vector and %d by words", who, byVector, byWords)
		}
	}
}

// careless is a program that forgot whose rows it asks for.
type careless struct{ *postgres.DB }

func (c careless) Read(ctx context.Context, v identity.Viewer, f func(store.Tx) error) error {
	return c.DB.Read(ctx, v, func(tx store.Tx) error { return f(forgetful{tx}) })
}

func (c careless) Write(ctx context.Context, v identity.Viewer, f func(store.Tx) error) error {
	return c.DB.Write(ctx, v, func(tx store.Tx) error { return f(forgetful{tx}) })
}

type forgetful struct{ store.Tx }

var predicate = regexp.MustCompile(`\b(\w+\.)?(owner_)?user_id = @user\b`)

func (f forgetful) Exec(query string, args store.Args) (int64, error) {
	return f.Tx.Exec(predicate.ReplaceAllString(query, "true"), args)
}

func (f forgetful) Query(query string, args store.Args, each func(store.Scan) error) error {
	return f.Tx.Query(predicate.ReplaceAllString(query, "true"), args, each)
}

// Requirements: ISO-02
func TestAStoreWithoutItsPredicatesIsHeldBackByTheDatabase(t *testing.T) {
	t.Parallel()
	storetest.Isolation(t, func(t testing.TB, o store.Options) storetest.Backend {
		db := postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{})
		return storetest.Backend{Store: store.New(careless{db}, o), Index: postgres.NewIndex(db, postgres.IndexOptions{})}
	})
}

// The test above proves something only if the predicates are really gone.
func TestAStoreWithoutItsPredicatesLeaksToARoleThatBypassesThem(t *testing.T) {
	t.Parallel()
	d, _ := possessed(t)
	db := postgrestest.Open(t, d.Super, postgres.Options{AllowAnyRole: true})
	leaked, _, err := store.New(careless{db}, store.Options{}).ListConversations(t.Context(), identity.Viewer{UserID: id.New()}, "", 10)
	if err != nil || len(leaked) != 1 {
		t.Errorf("%d conversations, %v", len(leaked), err)
	}
}

// Requirements: ISO-02
func TestOpenRefusesARoleThatWouldSeeTooMuch(t *testing.T) {
	t.Parallel()
	d := postgrestest.Fresh(t)
	for role, url := range map[string]string{"is a superuser": d.Super, "owns the tables": d.Owner} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{AllowOldVector: true})
		if err == nil || !strings.Contains(err.Error(), role) {
			t.Errorf("got %v, want it to say that the role %s", err, role)
		}
	}
}
