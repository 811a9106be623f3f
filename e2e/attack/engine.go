package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

func engineAttacks() []attack {
	return []attack{
		{name: "engine-ports", row: "#4", about: "every port of the program, asked over HTTP by another origin", run: enginePorts},
		{name: "engine-ui", row: "#4", about: "Temporal's web UI under another host's name, and from another origin", deployments: []string{onEmbedded}, run: engineUI},
		{name: "engine-forged", row: "#4", about: "runs and answers of another person, put into Temporal over gRPC", run: engineForged},
	}
}

const evil = "evil.example"

// enginePorts asks every port the programs listen on.
func enginePorts(t *trial) {
	known := []string{}
	for _, p := range t.house.processes {
		for _, at := range []string{p.ready.HTTP, p.ready.TemporalUI, p.ready.Ops, p.ready.Palace} {
			if u, err := url.Parse(at); err == nil && u.Host != "" {
				known = append(known, u.Host)
			}
		}
	}
	var open []string
	for _, p := range t.house.processes {
		open = append(open, listening(p.cmd.Process.Pid)...)
	}
	if len(open) == 0 {
		t.must(fmt.Errorf("no port of the program was found"))
	}
	n := t.nobody()
	for _, at := range open {
		if host, _, _ := net.SplitHostPort(at); !net.ParseIP(host).IsLoopback() {
			t.hole("%s is open to the network", at)
		}
		a := n.send(3*time.Second, "GET", "http://"+at+"/api/v1/namespaces", nil, "Host", evil, "Origin", "http://"+evil)
		b := n.send(3*time.Second, "POST", "http://"+at+"/api/v1/namespaces/default/workflows/attack-"+strconv.Itoa(os.Getpid()),
			[]byte(`{"workflowType":{"name":"RunWorkflow"},"taskQueue":{"name":"liminal"}}`), "Content-Type", "text/plain", "Origin", "http://"+evil, "Sec-Fetch-Site", "cross-site")
		for _, got := range []answer{a, b} {
			if got.ok() && strings.Contains(string(got.raw), "amespace") || got.ok() && strings.Contains(string(got.raw), "runId") {
				t.hole("%s answers another origin: %s", at, got)
			}
		}
		if a.err == nil && !slices.Contains(known, at) {
			t.hole("%s speaks HTTP and nobody named it: %s", at, a)
		}
	}
	t.figure("%d ports", len(open))
}

// listening are the addresses a process listens on.
func listening(pid int) (out []string) {
	inodes := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is right
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes[strings.Trim(to[len("socket:"):], "[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if fields := strings.Fields(lines.Text()); len(fields) > 9 && fields[3] == "0A" && inodes[fields[9]] {
				out = append(out, hexAddress(fields[1]))
			}
		}
		_ = f.Close() // only read
	}
	return out
}

// hexAddress reads an address as the kernel writes it.
func hexAddress(text string) string {
	host, port, _ := strings.Cut(text, ":")
	n, _ := strconv.ParseUint(port, 16, 16)
	var ip net.IP
	for i := 0; i+8 <= len(host); i += 8 {
		word, _ := strconv.ParseUint(host[i:i+8], 16, 32)
		ip = append(ip, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	return net.JoinHostPort(ip.String(), strconv.FormatUint(n, 10))
}

// engineUI asks the UI as a page does whose name was bound to loopback, and as
// a page of another origin.
func engineUI(t *trial) {
	at := t.house.ready.TemporalUI
	if !strings.HasPrefix(at, "http") {
		at = "http://" + at
	}
	n := t.nobody()
	own := n.send(5*time.Second, "GET", at+"/api/v1/namespaces/default/workflows", nil)
	t.figure("by its own name: %d", own.status)
	for _, path := range []string{"/", "/api/v1/namespaces", "/api/v1/namespaces/default/workflows", "/api/v1/settings"} {
		for _, host := range []string{evil, evil + ":8233", "localhost." + evil, "127.0.0.1." + evil} {
			if a := n.send(5*time.Second, "GET", at+path, nil, "Host", host); a.ok() {
				t.hole("Host %s reads %s: %s", host, path, a)
			}
		}
	}
	// A page of another origin has the cookie sent along; a rebound one reads it too.
	page := n.send(5*time.Second, "GET", at+"/api/v1/settings", nil)
	csrf := ""
	for _, c := range (&http.Response{Header: page.header}).Cookies() {
		if c.Name == "_csrf" {
			csrf = c.Value
		}
	}
	question, p := asking(t)
	body, _ := json.Marshal(object{"input": object{"payloads": []object{payloadJSON(object{"interrupt_id": question.interrupt, "answer": "stolen"})}}})
	signal := at + "/api/v1/namespaces/default/workflows/" + url.PathEscape(question.workflow) + "/signal/answer"
	for _, headers := range [][]string{
		{"Host", evil, "Origin", "http://" + evil, "Content-Type", "text/plain"},
		{"Origin", "http://" + evil, "Content-Type", "text/plain"},
		{"Origin", "null", "Content-Type", "text/plain"},
		{"Host", evil, "Origin", "http://" + evil, "Content-Type", "application/json"},
		{"Origin", "http://" + evil, "Content-Type", "application/json", "Sec-Fetch-Site", "cross-site"},
	} {
		headers = append(headers, "Cookie", "_csrf="+csrf, "X-CSRF-TOKEN", csrf)
		if a := n.send(5*time.Second, "POST", signal, body, headers...); a.ok() {
			t.hole("a signal with %v: %s", headers[:4], a)
		}
	}
	if !stays(t, p, question) {
		t.hole("another person's question was answered through the UI")
	}
}

// open is a question that somebody was asked.
type open struct{ run, interrupt, workflow string }

// asking is a person with a question that waits for them.
func asking(t *trial) (open, *person) {
	p := t.signUp("victim")
	interrupt, a := ask(p, "asking", nil)
	t.must(a.asError())
	q := open{interrupt: interrupt, run: a.text("run_id")}
	e := t.engine()
	found := t.wait(patience, func() bool {
		list, err := e.ListWorkflowExecutions(t.ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: e.namespace, PageSize: 20, Query: "ExecutionStatus='Running' AND liminal_user='" + p.id + "'",
		})
		t.must(err)
		for _, w := range list.GetExecutions() {
			q.workflow = w.GetExecution().GetWorkflowId()
		}
		return q.workflow != ""
	})
	if !found || interrupt == "" {
		t.must(fmt.Errorf("no run waits for its person: %s", a))
	}
	return q, p
}

// stays reports whether a question is still open after a while.
func stays(t *trial, p *person, q open) bool {
	return !t.wait(3*time.Second, func() bool {
		a := p.do("GET", "/v1/interrupts", nil)
		return a.ok() && !strings.Contains(string(a.raw), q.interrupt)
	})
}

func payloadJSON(v any) object {
	raw, _ := json.Marshal(v) // ours
	return object{"metadata": object{"encoding": "anNvbi9wbGFpbg=="}, "data": raw}
}

func payload(v any) *commonpb.Payloads {
	raw, _ := json.Marshal(v) // ours
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: raw}}}
}

// engineForged talks to Temporal as whoever reaches its port: it starts a run
// in another's name and with an administrator's rights, and answers another's
// question.
func engineForged(t *trial) {
	question, victim := asking(t)
	t.need(victim.workflow("sesame-plan",
		object{"id": "say", "type": "tool_call", "tool": "text.scan_v1", "inputs": object{"text": "sesame"}, "next": "end"}, object{"id": "end", "type": "end"}))
	e := t.engine()
	_, err := e.SignalWorkflowExecution(t.ctx, &workflowservice.SignalWorkflowExecutionRequest{
		Namespace: e.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: question.workflow},
		SignalName: "answer", Input: payload(object{"interrupt_id": question.interrupt, "answer": "stolen"}), Identity: evil,
	})
	t.figure("the signal was %s", taken(err))
	if !stays(t, victim, question) {
		t.hole("another person's question was answered by a signal from outside")
	}
	for _, role := range []string{"admin", "system", "user"} {
		if did := forgedRun(t, e, victim, question, role); did != "" {
			t.hole("%s", did)
		}
	}
}

func taken(err error) string {
	if err != nil {
		return "refused"
	}
	return "taken"
}

// forgedRun starts a run of another person's artifact, and says what it did.
func forgedRun(t *trial, e *engine, victim *person, question open, role string) string {
	described, err := e.DescribeWorkflowExecution(t.ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: e.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: question.workflow},
	})
	if err != nil {
		return "" // the port gives nothing away
	}
	id := fmt.Sprintf("attack-%s-%d", role, time.Now().UnixNano())
	viewer := object{"user_id": victim.id, "role": role, "plan": "paid", "tenant_id": "default"}
	_, err = e.StartWorkflowExecution(t.ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: e.namespace, WorkflowId: id, RequestId: id, Identity: evil,
		WorkflowType: &commonpb.WorkflowType{Name: "RunWorkflow"},
		TaskQueue:    &taskqueuepb.TaskQueue{Name: described.GetExecutionConfig().GetTaskQueue().GetName()},
		Input: payload(object{
			"run_id": question.run, "viewer": viewer, "kind": "workflow",
			"child": object{"workflow": "sesame-plan", "inputs": object{"message": "x"}, "effect_id": id, "alone": true},
		}),
	})
	if err != nil {
		t.figure("a run as %s was refused", role)
		return ""
	}
	did := ""
	t.wait(5*time.Second, func() bool {
		h, err := e.GetWorkflowExecutionHistory(t.ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: e.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id},
		})
		if err != nil {
			return false
		}
		for _, event := range h.GetHistory().GetEvents() {
			switch event.GetEventType() {
			case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
				did = fmt.Sprintf("a run started from outside as %s of another person did its work (%s)", role, event.GetEventType())
			case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
				t.figure("a run as %s failed", role)
				return true
			default:
			}
		}
		return did != ""
	})
	_, _ = e.TerminateWorkflowExecution(t.ctx, &workflowservice.TerminateWorkflowExecutionRequest{ // it may have ended
		Namespace: e.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}, Reason: "the attack is over",
	})
	return did
}
