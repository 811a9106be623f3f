package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Requirements: OPS-09, PLAT-10, GRAPH-26
func TestAPausedRunOutlivesEveryProcess(t *testing.T) {
	c := grown(t, 2, 2)
	ada := c.servers[0].signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	ada.at(c.servers[1]).upload(docs, "loan.md", []byte(loan))
	asked := ada.at(c.servers[1]).must("POST", "/v1/chat", object{"message": "How long is the notice period?"})
	question, ok := asked["interrupt"].(object)
	if !ok {
		t.Fatalf("two documents fit and nobody was asked: %v", asked["content"])
	}
	ada.seesWhere(asked["run_id"].(string), question["message"])
	for _, p := range c.workers {
		p.kill()
	}
	// Nobody is there to tell where it stands, and nobody waits long for that.
	var took time.Duration
	for try := 0; try == 0 || took > 4*time.Second && try < 4; try++ { // what else runs only ever adds
		began := time.Now()
		silent := ada.at(c.servers[0]).must("GET", "/v1/runs/"+asked["run_id"].(string), nil)["run"].(object)
		if took = time.Since(began); silent["live"].(object)["known"] != false || silent["status"] != "waiting" {
			t.Errorf("without a worker: %v", silent)
		}
	}
	if took > 4*time.Second {
		t.Errorf("without a worker it is told after %s", took)
	}
	for _, p := range c.servers {
		p.kill()
	}
	ada = ada.at(c.server())
	c.worker()
	ada.seesWhere(asked["run_id"].(string), question["message"])
	conversation := asked["conversation_id"].(string)
	again := ada.must("GET", "/v1/conversations/"+conversation+"/messages", nil)["pending_interrupt"].(object)
	if again["interrupt_id"] != question["interrupt_id"] {
		t.Fatalf("after the restart the question is %v, was %v", again, question)
	}
	ada.must("POST", "/v1/chat/resume", object{
		"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "doc_choice", "value": option(t, question, "Loan")},
	})
	done := last(t, ada.follow(asked["run_id"].(string), 0, nil), "message_done").object()
	if content := done["content"].(string); !strings.Contains(content, "six weeks") {
		t.Errorf("the answer is %q", content)
	}
	if n := steps(ada, asked["run_id"].(string), "search"); n != 1 {
		t.Errorf("the step before the question ran %d times, want once", n)
	}
}

// nextEvent is the bar of the issue: how soon after a worker's death a reader
// must see its run go on.
const nextEvent = 5 * time.Second

// Requirements: OPS-09, STREAM-32, CHAT-28
func TestAnotherWorkerTakesOverWithinSeconds(t *testing.T) {
	env, spoke, resume := gated(t, "One two three. ", "Four five.")
	c := grown(t, 1, 1, env...)
	ada := c.servers[0].signUp("ada@example.org")
	var took time.Duration
	for n := 0; n == 0 || took > nextEvent && n < 3; n++ { // what else runs only ever adds
		for _, path := range []string{spoke, resume} {
			_ = os.Remove(path) // of the try before
		}
		turn := ada.must("POST", "/v1/chat", object{"message": "Count.", "stream": true})
		run := turn["run_id"].(string)
		before := ada.follow(run, 0, func(e event) bool { return e.Kind == "token" })
		c.servers[0].until("the model to have spoken", there(spoke))
		c.worker()
		touch(t, resume)
		c.workers[n].kill()
		died := time.Now()
		first := ada.follow(run, before[len(before)-1].Seq, func(event) bool { return true })
		took = time.Since(died)
		t.Logf("the next event came %s after the worker's death", took)
		after := ada.follow(run, first[len(first)-1].Seq, nil)
		if got := text(slices.Concat(before, first, after)); got != "One two three. Four five." {
			t.Errorf("the reader sees %q", got)
		}
		want := []string{"user: Count.", "assistant: One two three. Four five."}
		if got := ada.messages(turn["conversation_id"].(string)); !slices.Equal(got, want) {
			t.Errorf("the conversation holds %q, want %q", got, want)
		}
	}
	if took > nextEvent {
		t.Errorf("the next event came %s after the worker's death, want it within %s", took, nextEvent)
	}
}

// Requirements: OPS-09, STREAM-29
func TestARollingRestartLosesNoAnswer(t *testing.T) {
	env, spoke, resume := gated(t, "One two three. ", "Four five.")
	c := grown(t, 2, 2, env...)
	ada := c.servers[0].signUp("ada@example.org")
	turn := ada.must("POST", "/v1/chat", object{"message": "Count.", "stream": true})
	run := turn["run_id"].(string)
	before := ada.follow(run, 0, func(e event) bool { return e.Kind == "token" })
	c.servers[0].until("the model to have spoken", there(spoke))
	for _, p := range slices.Concat(c.workers, c.servers[:1]) {
		if code := p.terminate(); code != 0 {
			t.Errorf("%s ended with %d", p.args[0], code)
		}
		p.again()
	}
	touch(t, resume)
	after := ada.at(c.servers[1]).follow(run, before[len(before)-1].Seq, nil)
	if got := text(append(before, after...)); got != "One two three. Four five." {
		t.Errorf("the reader who came back elsewhere sees %q, from %v", got, kinds(after))
	}
	if !slices.IsSortedFunc(append(before, after...), func(a, b event) int { return int(a.Seq - b.Seq) }) {
		t.Error("seq does not grow over the restarts")
	}
}

// Requirements: DATA-13
func TestLosingAllOfRedisLosesNothing(t *testing.T) {
	c := grown(t, 1, 1)
	ada := c.servers[0].signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	ada.upload(docs, "loan.md", []byte(loan))
	first := ada.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?"})
	conversation := first["conversation_id"].(string)
	asked := ada.must("POST", "/v1/chat", object{"message": "How long is the notice period?", "conversation_id": conversation})
	question := asked["interrupt"].(object)
	before := ada.messages(conversation)

	c.flush()
	ada.must("GET", "/v1/auth/me", nil) // the token still works: sessions are in PostgreSQL
	ada.signIn()
	if got := ada.messages(conversation); !slices.Equal(got, before) {
		t.Errorf("after the loss the conversation holds %q, before %q", got, before)
	}
	ada.must("POST", "/v1/chat/resume", object{
		"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "doc_choice", "value": option(t, question, "Loan")},
	})
	done := last(t, ada.follow(asked["run_id"].(string), 0, nil), "message_done").object()
	if content := done["content"].(string); !strings.Contains(content, "six weeks") {
		t.Errorf("the answer to the question is %q", content)
	}
	next := ada.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?", "conversation_id": conversation})
	if !strings.Contains(fmt.Sprint(next["content"]), "three monthly rents") {
		t.Errorf("the next answer is %v", next["content"])
	}
	c.flush()
	if got := len(ada.messages(conversation)); got < 6 {
		t.Errorf("in the end the conversation holds %d messages", got)
	}
}

// Requirements: SAFE-08, PLAT-14
func TestHistoriesHoldNothingInPlainText(t *testing.T) {
	keys := "a:" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	c := grown(t, 1, 1, "LIMINAL_PAYLOAD_KEYS="+keys, "LIMINAL_LOG_LEVEL=debug",
		"LIMINAL_SMTP_URL=smtp://mailer:opensesame-mail@127.0.0.1:1") // nobody answers there: the failure is logged
	ada := c.servers[0].signUp("ada@example.org")
	ada.must("POST", "/v1/auth/request_reset", object{"email": ada.email})
	c.servers[0].until("the mail to have failed", func() bool { return strings.Contains(c.servers[0].log.tail(1<<20), "mail") })
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	answered := ada.must("POST", "/v1/chat", object{"message": "What deposit does the xylophonist tenant pay?"})
	if !strings.Contains(fmt.Sprint(answered["content"]), "three monthly rents") {
		t.Fatalf("the answer is %v", answered["content"])
	}
	ada.must("POST", "/v1/tools/run", object{"tool_id": "files.list_v1", "input": object{}})
	turn := "chat:" + answered["conversation_id"].(string) + ":"
	said := c.histories(turn)
	if len(said) < 10_000 {
		t.Fatalf("only %d bytes of history were read", len(said))
	}
	for _, secret := range []string{
		"xylophonist", "monthly rents", "correct horse battery", "ada@example.org", ada.token, "argon2id", "opensesame", c.Redis,
		"MDEyMzQ1Njc4OWFiY2RlZjAx", "eyJhbGciOi",
	} {
		if strings.Contains(said, secret) {
			t.Errorf("a history holds %q", secret)
		}
	}
	history := filepath.Join(t.TempDir(), "history.json")
	if err := os.WriteFile(history, c.history(turn), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := c.command("replay", history); code != 0 {
		t.Errorf("replaying an encrypted history with its keys: %d\n%s", code, out)
	}
	c.env = slices.DeleteFunc(c.env, func(v string) bool { return strings.HasPrefix(v, "LIMINAL_PAYLOAD_KEYS") })
	if out, code := c.command("replay", history); code != 1 {
		t.Errorf("replaying it without: %d\n%s", code, out)
	}
	logs := c.servers[0].log.tail(1<<20) + c.workers[0].log.tail(1<<20)
	for _, secret := range []string{
		"correct horse battery", ada.token, "argon2id", "MDEyMzQ1Njc4OWFiY2RlZjAx", "xylophonist", "opensesame", "ada@example.org",
	} {
		if strings.Contains(logs, secret) {
			t.Errorf("a log holds %q", secret)
		}
	}
}

// histories are all histories of the namespace, as Temporal keeps them, once a
// run whose workflow id begins with prefix is listed: the list comes later than
// the run.
func (c *cluster) histories(prefix string) string {
	c.t.Helper()
	temporal := c.Client()
	var all strings.Builder
	c.servers[0].until("the runs to be listed", func() bool {
		list, err := temporal.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
		if err != nil {
			c.t.Fatal(err)
		}
		all.Reset()
		for _, w := range list.GetExecutions() {
			raw, _ := proto.Marshal(w)
			all.Write(raw)
			events := temporal.GetWorkflowHistory(c.t.Context(), w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId(), false,
				enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				e, err := events.Next()
				if err != nil {
					c.t.Fatal(err)
				}
				raw, _ := proto.Marshal(e)
				all.Write(raw)
			}
		}
		return len(list.GetExecutions()) >= 3 && slices.ContainsFunc(list.GetExecutions(), func(w *workflow.WorkflowExecutionInfo) bool {
			return strings.HasPrefix(w.GetExecution().GetWorkflowId(), prefix)
		})
	})
	return all.String()
}

// history is that of the run whose workflow id begins so, as tools download it.
func (c *cluster) history(prefix string) []byte {
	c.t.Helper()
	temporal := c.Client()
	list, err := temporal.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, w := range list.GetExecutions() {
		if !strings.HasPrefix(w.GetExecution().GetWorkflowId(), prefix) {
			continue
		}
		var h historypb.History
		events := temporal.GetWorkflowHistory(c.t.Context(), w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId(), false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				c.t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		raw, err := protojson.Marshal(&h)
		if err != nil {
			c.t.Fatal(err)
		}
		return raw
	}
	c.t.Fatalf("there is no run %s…", prefix)
	return nil
}

// Requirements: OPS-14
func TestAServerRefusesADatabaseThatIsBehind(t *testing.T) {
	c := emptyCluster(t)
	if out, code := c.command("migrate", "--json"); code != 0 || !strings.Contains(out, `"applied": 0`) {
		t.Errorf("migrating again: %d\n%s", code, out)
	}
	c.SQL(c.As(c.Owner, "postgres", strings.TrimPrefix(databaseOf(c.Owner), "/")), `DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)`)
	out, code := c.command("server", "--listen", "127.0.0.1:0")
	if code != 1 || !strings.Contains(out, "liminald migrate") {
		t.Errorf("a server on a database that is behind: %d\n%s", code, out)
	}
}

func databaseOf(url string) string {
	path := url[strings.LastIndex(url, "/"):]
	path, _, _ = strings.Cut(path, "?")
	return path
}

// Requirements: OBS-07, OBS-01 (request latency and errors)
func TestTheInsidePortServesProbesAndMetricsOnly(t *testing.T) {
	c := emptyCluster(t)
	c.env = append(c.env, "LIMINAL_OPS_LISTEN=127.0.0.1:0")
	worker, server := c.worker(), c.server()
	for _, p := range []*program{worker, server} {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v1/auth/me": 404, "/": 404} {
			if got := status(t, p.ready.Ops+path); got != want {
				t.Errorf("%s %s on the inside port answers %d, want %d", p.args[0], path, got, want)
			}
		}
	}
	if got := status(t, server.ready.HTTP+"/readyz"); got != 200 {
		t.Errorf("/readyz of the server answers %d", got)
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// Requirements: OPS-05 (nightly dump kept 7 days)
func TestABackupIsRestored(t *testing.T) {
	c := grown(t, 1, 1)
	ada := c.servers[0].signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	first := ada.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?"})
	conversation := first["conversation_id"].(string)
	before := ada.messages(conversation)
	for _, p := range slices.Concat(c.servers, c.workers) {
		p.kill()
	}

	kept := t.TempDir()
	name := strings.TrimPrefix(databaseOf(c.Owner), "/")
	superuser := c.As(c.Owner, "postgres", name)
	backup := []string{"BACKUP_URL=" + superuser, "BACKUP_DIR=" + kept, "SHARED_FS_ROOT=" + c.Data}
	for _, now := range []string{"20261101T020000Z", "20261110T020000Z", "20261120T020000Z"} {
		c.script("backup.sh", append(backup, "BACKUP_NOW="+now))
	}
	dumps, _ := filepath.Glob(filepath.Join(kept, "dumps", "*.dump"))
	copies, _ := filepath.Glob(filepath.Join(kept, "files", "*-W*"))
	if len(dumps) != 1 || len(copies) != 3 {
		t.Errorf("of backups on three days there are left the dumps %v and the files %v", dumps, copies)
	}

	// A place where everything is new.
	fresh := emptyCluster(t)
	fresh.SQL(fresh.As(fresh.Owner, "postgres", strings.TrimPrefix(databaseOf(fresh.Owner), "/")), `DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION e2e_owner; CREATE EXTENSION vector`)
	restore := []string{"RESTORE_URL=" + fresh.Owner, "SHARED_FS_ROOT=" + fresh.Data}
	fresh.script("restore.sh", restore, dumps[0], copies[len(copies)-1])
	if out, code := fresh.command("migrate"); code != 0 {
		t.Fatalf("migrate after the restore: %d\n%s", code, out)
	}
	fresh.worker()
	bob := (&person{p: fresh.server(), email: ada.email})
	bob.signIn()
	if got := bob.messages(conversation); !slices.Equal(got, before) {
		t.Errorf("after the restore the conversation holds %q, before %q", got, before)
	}
	link := bob.must("POST", "/v1/files/link", object{"path": "files/lease.md"})["url"].(string)
	if !strings.HasPrefix(link, "http") {
		link = bob.p.ready.HTTP + link
	}
	if got := status(t, link); got != 200 {
		t.Errorf("the restored file answers %d", got)
	}
	again := bob.must("POST", "/v1/chat", object{"message": "What deposit does the tenant pay?", "conversation_id": conversation})
	if !strings.Contains(fmt.Sprint(again["content"]), "three monthly rents") {
		t.Errorf("after the restore the answer is %v", again["content"])
	}
}

// script runs a backup script with the tools of the test stack's own PostgreSQL.
func (c *cluster) script(name string, env []string, args ...string) {
	c.t.Helper()
	out, err := runScript(c.t, filepath.Join("..", "deploy", "backup", name), env, args...)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Requirements: OBS-02 (correlation id), OBS-03
func TestEveryLineOfARequestNamesIt(t *testing.T) {
	c := grown(t, 1, 1, "LIMINAL_LOG_FORMAT=json", "LIMINAL_LOG_LEVEL=debug")
	ada := c.servers[0].signUp("ada@example.org")
	turn := ada.must("POST", "/v1/chat", object{"message": "Hello, my mail is grace@example.org"})
	request := ada.must("GET", "/v1/runs/"+turn["run_id"].(string), nil)["request_id"]
	for _, p := range []*program{c.servers[0], c.workers[0]} {
		p.until("a line of the turn", func() bool { // what a request came to is logged behind its answer
			for line := range strings.Lines(p.log.tail(1 << 20)) {
				var entry object
				if json.Unmarshal([]byte(line), &entry) == nil && entry["request_id"] == request { // the line for people at the start is none
					return true
				}
			}
			return false
		})
		if said := p.log.tail(1 << 20); strings.Contains(said, "grace@example.org") || strings.Contains(said, "correct horse") {
			t.Errorf("%s logged %s", p.args[0], said)
		}
	}
}

func runScript(t *testing.T, path string, env []string, args ...string) (string, error) {
	t.Helper()
	tools, err := filepath.Glob(filepath.Join("..", ".cache", "lane", "postgres", "usr", "lib", "postgresql", "*", "bin"))
	if dir := os.Getenv("LANE_BIN"); dir != "" {
		tools = []string{dir}
	}
	if err != nil || len(tools) == 0 {
		t.Fatal("the tools of PostgreSQL are not where scripts/lane.sh puts them")
	}
	return execScript(t, path, append(env, "PATH="+tools[0]+":"+os.Getenv("PATH"), "LD_LIBRARY_PATH="+os.Getenv("LANE_LIB")), args...)
}
