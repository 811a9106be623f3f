package devserver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"liminal/internal/wire/devserver"
)

const queue = "test"

func TestServerRunsAWorkflowAndServesItsUI(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	for range 3 { // on a machine that stood still the server says so, now and then
		logged.Reset()
		dir := filepath.Join(t.TempDir(), "a folder?with 100% odd#name")
		s := start(t, dir, slog.New(slog.NewTextHandler(&logged, nil)))

		if got := runEmpty(t, s, "first"); got != "done" {
			t.Errorf("the workflow returned %q", got)
		}
		if page := get(t, "http://"+s.UIAddress()+"/"); !strings.Contains(page, "<html") {
			t.Errorf("the UI served no page: %.200q", page)
		}
		stop(t, s)
		if logged.Len() == 0 {
			return
		}
	}
	t.Errorf("each time a start and a stop logged:\n%s", logged.String())
}

// A page of another site, and one whose name was made to lead here, reach the
// ports of this machine through the browser of whoever looks at them.
func TestThePortsOfTheServerAreClosedToOtherPages(t *testing.T) {
	t.Parallel()
	s, err := devserver.Start(t.Context(), devserver.Options{
		Dir: t.TempDir(), Frontend: "127.0.0.1:0", UI: "127.0.0.1:0", UIURLs: []string{"https://runs.example.org"}, UIHosts: []string{"box.lan"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	const runs = "/api/v1/namespaces/default/workflows"
	_, port, err := net.SplitHostPort(s.UIAddress())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, host, origin, site string
		want                             int
	}{
		{http.MethodGet, runs, s.UIAddress(), "", "", http.StatusOK},
		{http.MethodGet, runs, "localhost:" + port, "", "", http.StatusOK},
		{http.MethodGet, runs, "runs.example.org", "", "", http.StatusOK},
		{http.MethodGet, runs, "box.lan:" + port, "", "", http.StatusOK},
		{http.MethodGet, "/", "evil.example", "", "", http.StatusForbidden},
		{http.MethodGet, runs, "evil.example:" + port, "", "same-origin", http.StatusForbidden},
		{http.MethodPost, runs + "/x", s.UIAddress(), "https://evil.example", "cross-site", http.StatusForbidden},
		{http.MethodPost, runs + "/x/signal/answer", s.UIAddress(), "http://127.0.0.1:1", "same-site", http.StatusForbidden},
		{http.MethodPost, runs + "/x/signal/answer", s.UIAddress(), "null", "", http.StatusForbidden},
	} {
		got, cookies := ask(t, s, c.method, c.path, c.host, "Origin", c.origin, "Sec-Fetch-Site", c.site)
		if got != c.want {
			t.Errorf("%s %s as %s from %q: %d, want %d", c.method, c.path, c.host, c.origin, got, c.want)
		}
		if c.want == http.StatusForbidden && len(cookies) > 0 {
			t.Errorf("%s %s as %s is refused and gets %v", c.method, c.path, c.host, cookies)
		}
	}
	_, cookies := ask(t, s, http.MethodGet, "/", s.UIAddress())
	if len(cookies) == 0 {
		t.Fatalf("our own page gets the cookies %v", cookies)
	}
	token := cookies[0].Value
	own := []string{"Origin", "http://" + s.UIAddress(), "Sec-Fetch-Site", "same-origin", "Cookie", "_csrf=" + token, "X-CSRF-Token", token}
	if got, _ := ask(t, s, http.MethodPost, runs+"/x/signal/answer", s.UIAddress(), own...); got != http.StatusNotFound {
		t.Errorf("our own page signals a run that is not there: %d", got)
	}
}

// The frontend's HTTP port takes what any page posts as text.
func TestTheServerHasNoHTTPPortOfItsFrontend(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), nil)
	defer stop(t, s)
	info, err := dial(t, s).OperatorService().ListClusters(t.Context(), &operatorservice.ListClustersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(info.GetClusters()) != 1 {
		t.Fatalf("the clusters are %v", info.GetClusters())
	}
	if at := info.GetClusters()[0].GetHttpAddress(); at != "" {
		t.Errorf("the frontend has an HTTP port at %s", at)
	}
}

// ask sends a request to the UI under a Host, with headers that are not empty.
func ask(t *testing.T, s *devserver.Server, method, path, host string, headers ...string) (int, []*http.Cookie) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.UIAddress()+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Cookies()
}

func TestServerRemembersItsRunsAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, dir, nil)
	runEmpty(t, s, "kept")
	stop(t, s)

	s = start(t, dir, nil)
	defer stop(t, s)
	c := dial(t, s)
	var got string
	if err := c.GetWorkflow(t.Context(), "kept", "").Get(t.Context(), &got); err != nil || got != "done" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
}

func TestSearchAttributesAreRegisteredBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), nil)
	defer stop(t, s)
	c := dial(t, s)
	attributes := temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword("liminal_user").ValueSet("u1"),
		temporal.NewSearchAttributeKeyKeyword("liminal_conversation").ValueSet("c1"),
		temporal.NewSearchAttributeKeyKeyword("liminal_status").ValueSet("waiting"),
		temporal.NewSearchAttributeKeyKeyword("liminal_artifact").ValueSet("workflow.chat"),
		temporal.NewSearchAttributeKeyInt64("liminal_version").ValueSet(7),
	)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "found", TaskQueue: queue, TypedSearchAttributes: attributes,
	}, "Any")
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`liminal_user = "u1" AND liminal_status = "waiting"`,
		`liminal_conversation = "c1" AND liminal_artifact = "workflow.chat"`,
		`liminal_version = 7`,
	} {
		waitForList(t, c, query, "found")
	}
}

func TestNamespaceKeepsFinishedRunsThirtyDays(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), nil)
	defer stop(t, s)
	described, err := dial(t, s).WorkflowService().DescribeNamespace(t.Context(),
		&workflowservice.DescribeNamespaceRequest{Namespace: s.Namespace()})
	if err != nil {
		t.Fatal(err)
	}
	if got := described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != 30*24*time.Hour {
		t.Errorf("retention is %s", got)
	}
}

func TestStartSaysInOneSentenceWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, "temporal.db"), []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options devserver.Options
		want    string
	}{
		"taken frontend": {devserver.Options{Dir: t.TempDir(), Frontend: taken.Addr().String(), UI: "127.0.0.1:0"}, "the port is taken"},
		"taken UI":       {devserver.Options{Dir: t.TempDir(), Frontend: "127.0.0.1:0", UI: taken.Addr().String()}, "the port is taken"},
		"one port twice": {devserver.Options{Dir: t.TempDir(), Frontend: "127.0.0.1:45671", UI: "127.0.0.1:45671"}, "the port is taken"},
		"no port":        {devserver.Options{Dir: t.TempDir(), Frontend: "here"}, "not a host and a port"},
		"not our host":   {devserver.Options{Dir: t.TempDir(), Frontend: "192.0.2.1:0", UI: "127.0.0.1:0"}, "cannot listen on 192.0.2.1:0"},
		"a file":         {devserver.Options{Dir: filepath.Join(file, "sub"), Frontend: "127.0.0.1:0", UI: "127.0.0.1:0"}, "cannot be made"},
		"no folder":      {devserver.Options{Frontend: "127.0.0.1:0", UI: "127.0.0.1:0"}, "needs a folder"},
		"damaged":        {devserver.Options{Dir: damaged, Frontend: "127.0.0.1:0", UI: "127.0.0.1:0"}, "temporal.db cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := devserver.Start(t.Context(), c.options)
			if err == nil {
				stop(t, s)
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("said %q, want one line with %q", err, c.want)
			}
		})
	}
}

func start(t *testing.T, dir string, log *slog.Logger) *devserver.Server {
	t.Helper()
	s, err := devserver.Start(t.Context(), devserver.Options{
		Dir: dir, Frontend: "127.0.0.1:0", UI: "127.0.0.1:0", Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *devserver.Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, s *devserver.Server) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: s.Address(), Namespace: s.Namespace(), Logger: quiet{}, ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func runEmpty(t *testing.T, s *devserver.Server, id string) string {
	t.Helper()
	c := dial(t, s)
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(empty, workflow.RegisterOptions{Name: "Empty"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, "Empty")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := run.Get(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func empty(workflow.Context) (string, error) { return "done", nil }

// waitForList polls: the lists follow the runs by up to 250 ms, by design.
func waitForList(t *testing.T, c client.Client, query, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for _, e := range page.GetExecutions() {
			if e.GetExecution().GetWorkflowId() == id && e.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s found nothing", query)
		case <-tick.C:
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
