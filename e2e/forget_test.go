package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/sqlite"
	"liminal/worker"
)

// The words of a turn, of which none stands in another.
const (
	wordAsked    = "xylophonist"  // the question, and what a tool gives back
	wordBefore   = "quokkaherder" // what was said before
	wordAnswered = "zugzwangling" // the answer, and a question of the graph's
	wordChosen   = "yaffleberry"  // a person's answer to it
)

var allWords = []string{wordAsked, wordBefore, wordAnswered, wordChosen}

// home is where an installation keeps things, for who looks through all of it.
type home interface {
	// rows are all rows of all tables as text.
	rows() string
	// sql changes rows.
	sql(statement string)
	// hot is everything in Redis.
	hot() string
	// disk are the folders that hold files, by what they are. The write-ahead log of
	// SQLite lies in one of them.
	disk() map[string]string
	// written is the write-ahead log of a database that lies elsewhere, from when the
	// test began.
	written() string
	// temporal reads histories as the program does: with the keys there are, and
	// the large values. done lets go of what it needs.
	temporal() (c client.Client, namespace string, done func())
}

// finds tells where the words of a turn are: in rows, Redis, files, logs, and in
// histories as they are and as they read.
func finds(t *testing.T, h home, logs string) (places []string) {
	t.Helper()
	look := func(place, text string) {
		for _, w := range allWords {
			if strings.Contains(text, w) {
				places = append(places, place+": "+w)
			}
		}
	}
	look("rows", h.rows())
	look("redis", h.hot())
	look("logs", logs)
	look("wal", h.written())
	for what, folder := range h.disk() {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) { // gone while one looks
				return nil
			}
			look(what+" "+filepath.Base(path), string(raw))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	look("histories", readable(t, h))
	slices.Sort(places)
	return slices.Compact(places)
}

// readable are all histories as the program reads them.
func readable(t *testing.T, h home) string {
	t.Helper()
	c, namespace, done := h.temporal()
	defer done()
	var all strings.Builder
	list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list.GetExecutions() {
		events := c.GetWorkflowHistory(t.Context(), w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				t.Fatalf("the history of %s: %v", w.GetExecution().GetWorkflowId(), err)
			}
			raw, err := protojson.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(raw)
			for _, p := range payloadsIn(e) {
				all.Write(p)
			}
		}
	}
	return all.String()
}

// alone is the folder of one program that has everything in it.
type alone struct {
	t *testing.T
	p *program
}

func (h alone) folder() string          { return filepath.Join(h.p.dir, "data") }
func (h alone) disk() map[string]string { return map[string]string{"file": h.folder()} }
func (h alone) hot() string             { return "" }
func (h alone) written() string         { return "" }
func (h alone) file() string            { return filepath.Join(h.folder(), "state", "liminal.db") }

func (h alone) open() *sql.DB {
	db, err := sql.Open("sqlite", "file:"+h.file()+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.t.Fatal(err)
	}
	return db
}

func (h alone) sql(statement string) {
	h.t.Helper()
	db := h.open()
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(statement); err != nil {
		h.t.Fatal(err)
	}
}

func (h alone) rows() string {
	h.t.Helper()
	db := h.open()
	defer func() { _ = db.Close() }()
	var all strings.Builder
	for _, table := range column(h.t, db, `SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'`) {
		rows, err := db.Query(`SELECT * FROM "` + table + `"`)
		if err != nil {
			h.t.Fatal(err)
		}
		names, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				h.t.Fatal(err)
			}
			for _, v := range values {
				switch x := (*v.(*any)).(type) {
				case []byte:
					all.Write(x)
				default:
					fmt.Fprintln(&all, x)
				}
			}
		}
		if err := rows.Close(); err != nil {
			h.t.Fatal(err)
		}
	}
	return all.String()
}

func column(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func (h alone) temporal() (client.Client, string, func()) {
	h.t.Helper()
	db, err := sqlite.Open(h.t.Context(), h.file(), sqlite.Options{Readers: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	c := reading(h.t, h.p.ready.Temporal, "default", store.New(db, store.Options{}))
	return c, "default", func() { c.Close(); _ = db.Close() }
}

// reading is a client that reads histories with the keys of a store.
func reading(t *testing.T, address, namespace string, s *store.Store) client.Client {
	t.Helper()
	codec, err := worker.NewCodec("", s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := worker.Dial(t.Context(), worker.ClientOptions{Address: address, Namespace: namespace, Codec: codec})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// key is that of the one run of which nothing is kept.
func (h alone) key() []byte {
	h.t.Helper()
	db := h.open()
	defer func() { _ = db.Close() }()
	keys := column(h.t, db, `SELECT secret FROM run_key`)
	if len(keys) != 1 {
		h.t.Fatalf("there are %d keys", len(keys))
	}
	return []byte(keys[0])
}

// holdsOnDisk is a file of the folder that holds bytes; empty: none does.
func (h alone) holdsOnDisk(b []byte) (in string) {
	h.t.Helper()
	err := filepath.WalkDir(h.folder(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // gone while one looks
		}
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, b) {
			in = path
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return in
}

// shared is what the processes of a cluster have in common.
type shared struct {
	*cluster
	since string // where PostgreSQL's write-ahead log was when the test began
}

func (h shared) sql(statement string) { h.SQL(h.Owner, statement) }

// connect is a connection that sees everything.
func (h shared) connect() (db *pgx.Conn, done func()) {
	h.t.Helper()
	ctx := h.t.Context()
	db, err := pgx.Connect(ctx, h.As(h.Owner, "postgres", strings.TrimPrefix(databaseOf(h.Owner), "/")))
	if err != nil {
		h.t.Fatal(err)
	}
	return db, func() { _ = db.Close(context.WithoutCancel(ctx)) }
}

// ended says that the end of a run is written, of which nothing is kept.
func (h shared) ended() bool {
	h.t.Helper()
	db, done := h.connect()
	defer done()
	found, err := collect(h.t.Context(), db, `SELECT 'it is' FROM run_key WHERE forget_at IS NOT NULL`)
	if err != nil {
		h.t.Fatal(err)
	}
	return len(found) > 0
}

// disk has the files of the database too, as they lie: what is no row any more may
// still stand in a page.
func (h shared) disk() map[string]string {
	h.t.Helper()
	ctx := h.t.Context()
	db, done := h.connect()
	defer done()
	if _, err := db.Exec(ctx, `CHECKPOINT`); err != nil {
		h.t.Fatal(err)
	}
	pages, err := collect(ctx, db, `SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database WHERE datname = current_database()`)
	if err != nil || len(pages) != 1 {
		h.t.Fatal(pages, err)
	}
	return map[string]string{"file": h.Data, "page": pages[0]}
}

// wal is where the write-ahead log ends.
func (h shared) wal() string {
	h.t.Helper()
	db, done := h.connect()
	defer done()
	at, err := collect(h.t.Context(), db, `SELECT pg_current_wal_lsn()::text`)
	if err != nil {
		h.t.Fatal(err)
	}
	return at[0]
}

// written reads the segments of the log as they lie, and of the first and the last
// no more than the part that was written meanwhile: a segment is used again, and what
// is behind its end is of a turn of before.
func (h shared) written() string {
	h.t.Helper()
	ctx := h.t.Context()
	db, done := h.connect()
	defer done()
	// The lane's commits do not wait until they are written; one that does takes with it
	// all that were before.
	if _, err := db.Exec(ctx, `SET synchronous_commit = on; SELECT pg_logical_emit_message(true, 'read', '')`); err != nil {
		h.t.Fatal(err)
	}
	parts, err := collect(ctx, db, `
SELECT concat_ws(' ', current_setting('data_directory') || '/pg_wal/' || pg_walfile_name(at), 
  CASE WHEN at = first THEN (pg_walfile_name_offset('`+h.since+`')).file_offset ELSE 0 END,
  CASE WHEN at = last THEN (pg_walfile_name_offset(until)).file_offset ELSE size END)
FROM (SELECT size, until, '0/0'::pg_lsn + n * size + 1 AS at, '0/0'::pg_lsn + min(n) OVER () * size + 1 AS first, '0/0'::pg_lsn + max(n) OVER () * size + 1 AS last
  FROM (SELECT pg_size_bytes(current_setting('wal_segment_size')) AS size, pg_current_wal_flush_lsn() AS until) u,
    generate_series(floor(('`+h.since+`'::pg_lsn - '0/0') / size), floor((until - '0/0') / size)) n) w
ORDER BY at`)
	if err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for _, part := range parts {
		var path string
		var from, to int
		if _, err := fmt.Sscan(part, &path, &from, &to); err != nil {
			h.t.Fatalf("%q: %v", part, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err) // a segment that was used again already: this test writes far less than is kept
		}
		all.Write(raw[from:min(to, len(raw))])
	}
	return all.String()
}

func (h shared) rows() string {
	h.t.Helper()
	ctx := h.t.Context()
	db, done := h.connect()
	defer done()
	tables, err := collect(ctx, db, `SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'`)
	if err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for _, table := range tables {
		rows, err := collect(ctx, db, `SELECT t::text FROM `+table+` t`)
		if err != nil {
			h.t.Fatal(err)
		}
		all.WriteString(strings.Join(rows, "\n"))
		if table == "blob" || table == "payload" || table == "recording" { // bytes read as hexadecimal above
			value := map[string]string{"recording": "body"}[table]
			if value == "" {
				value = "value"
			}
			rows, err := collect(ctx, db, `SELECT encode(`+value+`, 'escape') FROM `+table)
			if err != nil {
				h.t.Fatal(err)
			}
			all.WriteString(strings.Join(rows, "\n"))
		}
	}
	return all.String()
}

func collect(ctx context.Context, db *pgx.Conn, query string) ([]string, error) {
	rows, err := db.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (h shared) hot() string {
	h.t.Helper()
	o, err := goredis.ParseURL(h.Redis)
	if err != nil {
		h.t.Fatal(err)
	}
	r, ctx := goredis.NewClient(o), h.t.Context()
	defer func() { _ = r.Close() }()
	var all strings.Builder
	keys := r.Scan(ctx, 0, "*", 1000).Iterator()
	for keys.Next(ctx) {
		key := keys.Val()
		var value any
		switch r.Type(ctx, key).Val() {
		case "string":
			value = r.Get(ctx, key).Val()
		case "hash":
			value = r.HGetAll(ctx, key).Val()
		case "stream":
			value = r.XRange(ctx, key, "-", "+").Val()
		case "zset":
			value = r.ZRange(ctx, key, 0, -1).Val()
		case "set":
			value = r.SMembers(ctx, key).Val()
		case "list":
			value = r.LRange(ctx, key, 0, -1).Val()
		}
		fmt.Fprintln(&all, key, value)
	}
	if err := keys.Err(); err != nil {
		h.t.Fatal(err)
	}
	return all.String()
}

func (h shared) temporal() (client.Client, string, func()) {
	h.t.Helper()
	db, err := postgres.Open(h.t.Context(), h.App, postgres.Options{AllowOldVector: true, Connections: 2})
	if err != nil {
		h.t.Fatal(err)
	}
	c := reading(h.t, h.Temporal, h.Namespace, store.New(db, store.Options{}))
	return c, h.Namespace, func() { c.Close(); _ = db.Close() }
}

// assistants makes two that do the same: one keeps nothing, one keeps all.
func (who *person) assistants() (keepsNothing, keepsAll string) {
	who.p.t.Helper()
	schema := func(surface object) object {
		return object{
			"kind": "workflow.chat", "entrypoint": "repeat", "surface": surface,
			"nodes": []object{
				{"id": "repeat", "type": "tool_call", "tool": "value.set_v1", "inputs": object{"said": "again: ${input.message}"}, "next": "answer"},
				{"id": "answer", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": object{"message": "Say it."}, "next": "ask"},
				{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "What follows ${vars.answer.answer}?", "save_as": "chosen", "next": "end"},
				{"id": "end", "type": "end", "response": "${vars.answer.answer} and ${vars.chosen}"},
			},
		}
	}
	title := object{"en": "Discreet"}
	for name, to := range map[string]*string{"discreet": &keepsNothing, "archivist": &keepsAll} {
		surface := object{"title": title}
		if name == "discreet" {
			surface["keeps"] = "nothing"
		}
		*to = who.must("POST", "/v1/artifacts", object{"type": "workflow", "name": name, "schema": schema(surface)})["id"].(string)
	}
	return keepsNothing, keepsAll
}

// asks begins a turn that brings what was said before, with a question too long to
// travel.
func (who *person) asks(workflow, key string) object {
	who.p.t.Helper()
	var noise bytes.Buffer
	for i := range 9000 {
		fmt.Fprintf(&noise, " %x", i*i*7919)
	}
	return who.must("POST", "/v1/chat", object{
		"message": "What of the " + wordAsked + "?" + noise.String() + " " + wordAsked, "workflow_id": workflow, "client_request_id": key,
		"history": []object{{"role": "user", "content": "I know the " + wordBefore + "."}, {"role": "assistant", "content": "So do I."}},
	})
}

// playing is a model that says a word.
func playing(t *testing.T) []string {
	t.Helper()
	return append(script(t, `{"answers":[{"steps":[{"text":"The "},{"text":"`+wordAnswered+`"}]}]}`),
		"LIMINAL_LOG_LEVEL=debug", "LIMINAL_LOG_PAYLOADS=1")
}

// due makes it half a minute after the end of runs that have ended.
func due(h home) { h.sql(`UPDATE run_key SET forget_at = created_at WHERE forget_at IS NOT NULL`) }

// The program's own folder, killed in the middle: what was written before is
// forgotten by the next start.
//
// Requirements: GRND-47 (the server keeps no transcript), STREAM-24 (afterwards the turn counts as done)
func TestNothingIsKeptInTheFolderOverKillMinusNine(t *testing.T) {
	t.Parallel()
	p := start(t, playing(t)...)
	h := alone{t, p}
	ada := p.signUp("ada@example.org")
	keepsNothing, keepsAll := ada.assistants()
	asked := ada.asks(keepsNothing, "once")
	question, _ := asked["interrupt"].(object)
	if question == nil || question["message"] != "What follows The "+wordAnswered+"?" {
		t.Fatalf("it asked %v", asked)
	}
	logs := p.log.tail(1 << 22)
	p.kill()
	key := h.key()
	if h.holdsOnDisk(key) == "" {
		t.Error("the key is on no disk while it is needed, so that it is gone later says nothing")
	}
	// As it lies there without the program, waiting for its person.
	var lying []string
	for _, text := range []string{h.rows(), logs} {
		for _, w := range allWords {
			if strings.Contains(text, w) {
				lying = append(lying, w)
			}
		}
	}
	if len(lying) > 0 {
		t.Errorf("while it waits %q lie in plain", lying)
	}
	p.again()
	ada.signIn()
	waiting := ada.must("GET", "/v1/interrupts", nil)["data"].([]any)
	if len(waiting) != 1 || waiting[0].(object)["message"] != question["message"] {
		t.Fatalf("after the restart %v waits", waiting)
	}
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": wordChosen}})
	run, conversation := asked["run_id"].(string), asked["conversation_id"].(string)
	done := last(t, ada.follow(run, 0, nil), "message_done").object()
	if want := "The " + wordAnswered + " and " + wordChosen; done["content"] != want {
		t.Errorf("it answered %q, want %q", done["content"], want)
	}
	// Who comes back within half a minute reads it again.
	if got := ada.messages(conversation); len(got) != 6 || !strings.Contains(got[5], wordChosen) {
		t.Errorf("right after its end the conversation holds %q", got)
	}
	for _, c := range ada.must("GET", "/v1/conversations", nil)["data"].([]any) {
		if c.(object)["id"] == conversation {
			t.Error("the conversation is listed")
		}
	}
	before := readable(t, h)
	if !strings.Contains(before, wordAnswered) {
		t.Error("with its key the history is not readable, so that it reads nothing later says nothing")
	}
	logs += p.log.tail(1 << 22)
	due(h)
	p.kill()
	p.again()
	ada.signIn()
	p.until("the key to be deleted", func() bool { return !strings.Contains(readable(t, h), wordAnswered) })
	p.until("the key's bytes to be in no file, the write-ahead log among them", func() bool { return h.holdsOnDisk(key) == "" })
	logs += p.log.tail(1 << 22)
	if places := finds(t, h, logs); len(places) > 0 {
		t.Errorf("the words are found in %q", places)
	}
	if after := readable(t, h); !strings.Contains(after, "forgotten") {
		t.Error("no history reads forgotten")
	}
	ada.isForgotten(run, conversation)
	if out, _, code := runWith(t, []string{"TEMPORAL_ADDRESS=" + p.ready.Temporal}, "replay", "--since", "1d", "--data", h.folder()); code != 0 || !strings.Contains(out, "nothing is kept") {
		t.Errorf("replay ends with %d: %s", code, out)
	}

	// The same of one that is kept is found, wherever one looks.
	ada.controlled(keepsAll)
	p.until("the history of what is kept to be listed", func() bool { return strings.Contains(readable(t, h), wordChosen) })
	places := strings.Join(finds(t, h, p.log.tail(1<<22)), "\n")
	for _, want := range []string{"rows: " + wordAsked, "rows: " + wordBefore, "rows: " + wordAnswered, "rows: " + wordChosen, "logs: " + wordAsked, "histories: " + wordAnswered, "histories: " + wordChosen, "liminal.db"} {
		if !strings.Contains(places, want) {
			t.Errorf("of a turn that is kept nothing is found in %s, so that this test finds nothing says nothing: %s", want, places)
		}
	}
}

// controlled plays the same turn where it is kept, to its end.
func (who *person) controlled(workflow string) {
	who.p.t.Helper()
	asked := who.asks(workflow, "kept")
	question := asked["interrupt"].(object)
	who.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": wordChosen}})
	last(who.p.t, who.follow(asked["run_id"].(string), 0, nil), "message_done")
}

// isForgotten looks at what a run of which nothing is kept answers for later.
func (who *person) isForgotten(run, conversation string) {
	who.p.t.Helper()
	done := last(who.p.t, who.follow(run, 0, nil), "message_done").object()
	if done["content"] != "" || done["forgotten"] != true {
		who.p.t.Errorf("its stream ends with %v", done)
	}
	for _, m := range who.messages(conversation) {
		if m != "user: " && m != "assistant: " && m != "system: " {
			who.p.t.Errorf("a message is %q", m)
		}
	}
	answer := done["message_id"].(string)
	for what, status := range map[string]int{
		"POST /v1/preferences":                               409,
		"GET /v1/runs/" + run:                                200,
		"POST /v1/conversations/" + conversation + "/branch": 409,
	} {
		method, path, _ := strings.Cut(what, " ")
		got, _, _, message := who.do(method, path, map[string]object{
			"POST": {"conversation_id": conversation, "message_id": answer, "signal": "like"},
		}[method])
		if got != status {
			who.p.t.Errorf("%s answers %d: %s", what, got, message)
		}
	}
}

// The production lane: all processes are killed right after the end, and the
// reconciler of those that come after forgets by itself.
//
// Requirements: GRND-47 (the server keeps no transcript), STREAM-24 (afterwards the turn counts as done)
func TestNothingIsKeptByACluster(t *testing.T) {
	c := grown(t, 1, 1, playing(t)...)
	h := shared{cluster: c}
	h.since = h.wal()
	server := c.servers[0]
	ada := server.signUp("ada@example.org")
	keepsNothing, keepsAll := ada.assistants()
	asked := ada.asks(keepsNothing, "once")
	question, _ := asked["interrupt"].(object)
	if question == nil {
		t.Fatalf("it asked nothing: %v", asked)
	}
	logs := func() string { return server.log.tail(1<<22) + c.workers[0].log.tail(1<<22) }
	for place, text := range map[string]string{"rows": h.rows(), "redis": h.hot(), "logs": logs()} {
		for _, w := range allWords {
			if strings.Contains(text, w) {
				t.Errorf("while it waits %s stands in the %s", w, place)
			}
		}
	}
	if !strings.Contains(h.hot(), asked["run_id"].(string)) {
		t.Error("the run's events are not in Redis, so that they have no words says nothing")
	}
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": wordChosen}})
	run := asked["run_id"].(string)
	events := ada.follow(run, 0, nil)
	if done := last(t, events, "message_done").object(); done["content"] != "The "+wordAnswered+" and "+wordChosen {
		t.Errorf("it answered %q", done["content"])
	}
	if again := ada.asks(keepsNothing, "once"); again["run_id"] != run || again["content"] != "The "+wordAnswered+" and "+wordChosen {
		t.Errorf("the same key again is run %v and %v", again["run_id"], again["content"])
	}
	// Temporal lists a run a moment after it began: one that is not listed yet reads
	// like one that is forgotten.
	server.until("the history to be listed", func() bool { return strings.Contains(readable(t, h), wordAnswered) })
	server.until("the end to be written", h.ended) // a step that a crash cuts is tried again after its time, which is long
	said := logs()
	for _, p := range []*program{server, c.workers[0]} {
		p.kill()
	}
	due(h)
	for _, p := range []*program{c.workers[0], server} {
		p.again()
	}
	ada.signIn()
	server.until("the key to be deleted", func() bool {
		due(h) // a run whose last step was cut ends once more
		return !strings.Contains(readable(t, h), wordAnswered)
	})
	if places := finds(t, h, said+logs()); len(places) > 0 {
		t.Errorf("the words are found in %q", places)
	}
	// The server may hold the key for some seconds after another process deleted it.
	server.until("the stream to be forgotten", func() bool {
		return last(t, ada.follow(run, 0, nil), "message_done").object()["content"] == ""
	})
	ada.isForgotten(run, asked["conversation_id"].(string))
	ada.controlled(keepsAll)
	server.until("the history of what is kept to be listed", func() bool { return strings.Contains(readable(t, h), wordAnswered) })
	places := strings.Join(finds(t, h, logs()), "\n")
	for _, want := range []string{"rows: " + wordAsked, "rows: " + wordBefore, "rows: " + wordChosen, "redis: " + wordAnswered, "logs: " + wordAsked, "histories: " + wordAnswered, "page ", "wal: " + wordAsked, "wal: " + wordChosen} {
		if !strings.Contains(places, want) {
			t.Errorf("of a turn that is kept nothing is found in %s: %s", want, places)
		}
	}
}

// payloadsIn are the data of all payloads of a message, as they are: JSON writes
// them in another way.
func payloadsIn(m proto.Message) (data [][]byte) {
	_ = proxy.VisitPayloads(context.Background(), m, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, list []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range list {
				data = append(data, p.GetData())
			}
			return list, nil
		},
	})
	return data
}
