package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"liminal/internal/store/storetest"
)

// noNetwork in the environment says that the process is in a network of its own.
const noNetwork = "E2E_WITHOUT_NETWORK"

// The phases of the seed's plan, one after the other on one program, without a
// model's server and, where the machine allows it, in a network of which only
// the loopback is there.
//
// Requirements: OPS-11
func TestEachPhaseOfThePlanRunsWithoutAModelAndWithoutANetwork(t *testing.T) {
	t.Parallel()
	if inOwnNetwork(t) {
		stays := nothingLeaves(t)
		phases(t)
		stays()
	}
}

// inOwnNetwork has a test played in a process with a network of its own, of which only
// the loopback is there, and reports whether this is that process. Where the machine
// allows no such network, it is this one, in the network there is.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(noNetwork) != "" {
		cutOff(t)
		return true
	}
	storetest.Long(t, "it starts the real program")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), noNetwork+"=1", "LIMINALD="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		t.Logf("this machine gives no network of its own: %v", err)
		return true
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// nothingLeaves returns a check that nobody has tried since to reach what is not on this
// machine, be it by a name: the kernel of a network of its own counts what it had no way
// for. In the network there is, others do so as well.
func nothingLeaves(t *testing.T) (check func()) {
	t.Helper()
	if os.Getenv(noNetwork) == "" {
		return func() {}
	}
	before := notRouted(t)
	return func() {
		t.Helper()
		if n := notRouted(t) - before; n != 0 {
			t.Errorf("%d packets were to leave the machine", n)
		}
	}
}

// notRouted counts the packets that this network had no way for.
func notRouted(t *testing.T) (n int) {
	t.Helper()
	four, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(four), "\n")
	for i, name := range strings.Fields(lines[0]) {
		if name == "OutNoRoutes" {
			n, err = strconv.Atoi(strings.Fields(lines[1])[i])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	six, _ := os.ReadFile("/proc/self/net/snmp6") // there is none where IPv6 is off
	for line := range strings.Lines(string(six)) {
		if of := strings.Fields(line); len(of) == 2 && of[0] == "Ip6OutNoRoutes" {
			more, _ := strconv.Atoi(of[1])
			n += more
		}
	}
	return n
}

// cutOff makes sure that of the network only the loopback is there.
func cutOff(t *testing.T) {
	t.Helper()
	if err := loopback(); err != nil {
		t.Fatalf("the loopback does not come up: %v", err)
	}
	if c, err := net.DialTimeout("tcp", "192.0.2.1:443", time.Second); err == nil {
		_ = c.Close()
		t.Fatal("there is a network")
	}
}

// loopback switches on the one interface a new network has.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}

func phases(t *testing.T) {
	s := hire(t, start(t))

	// 0: accounts, conversations, files, one graph.
	ada := s.power
	first := ada.must("POST", "/v1/chat", object{"message": "Hello"})
	if first["content"] == "" || len(ada.messages(first["conversation_id"].(string))) != 2 {
		t.Errorf("phase 0: answered %v", first)
	}

	// 1: documents that answers cite, and behaviour that is an artifact.
	docs := ada.must("POST", "/v1/contexts", object{"name": "Leave"})["id"].(string)
	ada.upload(docs, "Leave policy 2024.md", []byte(leave2024))
	about := ada.must("POST", "/v1/chat", object{"message": "How many days of paid leave are there?", "context_id": docs})
	if cited, _ := about["citations"].([]any); len(cited) == 0 || !strings.Contains(fmt.Sprint(about["content"]), "28 days") {
		t.Errorf("phase 1: answered %v with %v", about["content"], about["citations"])
	}
	made := s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})["id"].(string)
	if got := s.says(ada, made, "question"); got != "A short answer." {
		t.Errorf("phase 1: the graph says %q", got)
	}

	// 2: what is said of answers becomes how all are given.
	for _, question := range []string{"What is a lemma?", "Why is the sky blue?", "Who wrote Faust?"} {
		ada.finds(ada.must("POST", "/v1/chat", object{"message": question}), "too long")
	}
	ada.learns()
	if list, _ := ada.must("POST", "/v1/chat", object{"message": "And a corollary?"})["adapters"].([]any); len(list) != 1 {
		t.Errorf("phase 2: an answer is made with %v", list)
	}

	// 3: situations that come back, and what is learnt in each.
	for i := range 12 {
		for _, q := range []string{"Write a polite reminder to %s about the unpaid invoice.", "Recipe for apple pie without %s, please."} {
			of := ada.patiently("/v1/chat", object{"message": fmt.Sprintf(q, []string{"Miller", "butter", "Acme", "garlic"}[i%4])})
			ada.patiently("/v1/preferences", object{"conversation_id": of["conversation_id"], "message_id": of["message_id"], "signal": "like"})
		}
	}
	ada.learns()
	situations, _ := ada.must("GET", "/v1/clusters", nil)["data"].([]any)
	if len(situations) == 0 {
		t.Errorf("phase 3: the situations are %v", situations)
	}
	near := ada.must("POST", "/v1/chat", object{"message": "Write a polite reminder to Smith about the unpaid invoice."})
	if list, _ := near["adapters"].([]any); len(list) != 2 {
		t.Errorf("phase 3: in a situation an answer is made with %v", list)
	}

	// 4: behaviour is changed by patches that are checked, rehearsed and approved.
	patch := s.proposed(made,
		object{"op": "add", "path": "/nodes/0/branches/0", "value": object{"when": "input.message contains 'brief'", "next": "brief"}},
		object{"op": "add", "path": "/nodes/-", "value": object{"id": "brief", "type": "end", "response": "Brief."}})
	if s.taken(patch)["status"] != "applied" || s.says(ada, made, "brief please") != "Brief." {
		t.Errorf("phase 4: the patch stands at %v", patch)
	}
	// The architect finds that the graph changed and what to do; only its own run,
	// which is due once a day, hands it in.
	status, _, _, message := s.admin.do("POST", "/v1/chat", object{"message": "Look at the last week.", "workflow_id": "architect"})
	if status != http.StatusOK && !(status == http.StatusForbidden && strings.Contains(message, "Only the architect's own run proposes")) {
		t.Errorf("phase 4: the architect answers %d: %s", status, message)
	}
}

// patiently posts as often as the rate of one person lets it.
func (who *person) patiently(path string, body object) (out object) {
	who.p.t.Helper()
	who.p.until("room within the rate", func() bool {
		status, data, _, message := who.do("POST", path, body)
		if out = data; status >= http.StatusBadRequest && status != http.StatusTooManyRequests {
			who.p.t.Fatalf("%s answers %d: %s", path, status, message)
		}
		return status < http.StatusBadRequest
	})
	return out
}

// learns has the program learn now, and waits until it has.
func (who *person) learns() {
	who.p.t.Helper()
	status, _, _, message := who.do("POST", "/v1/learning/run", object{})
	if status != http.StatusAccepted && status != http.StatusConflict {
		who.p.t.Fatalf("learning now: %d %s", status, message)
	}
	run := who.learnt()["last_run"].(object)["run_id"].(string)
	last(who.p.t, who.follow(run, 0, nil), "message_done")
}
