//go:build containers

package e2e

import (
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"liminal/internal/id"
)

// These are the tests of the image. scripts/containers.sh builds it and that of
// the previous release, and tells them where Podman is; they are compiled for it
// alone, so that no other run skips them.

// image is what an environment variable names.
func image(t *testing.T, variable string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		t.Fatalf("%s is not set; run make containers", variable)
	}
	return name
}

// podman runs a command of Podman and gives what it prints.
func podman(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryPodman(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryPodman(args ...string) (string, error) {
	cmd := exec.Command(os.Getenv("CONTAINER_PODMAN"), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("podman %v: %w\n%s%s", args, err, &out, &errs)
	}
	return strings.TrimSpace(out.String()), nil
}

// container is a program in a container of its own.
type container struct {
	*program
	name string
}

// contain runs an image with flags of `podman run` and arguments of its own, and
// reaches it by ports of the loopback.
func contain(t *testing.T, image string, flags []string, args ...string) *container {
	t.Helper()
	c := &container{program: &program{t: t, log: &lockedBuffer{}}, name: "liminal-" + id.New()}
	run := []string{"run", "--detach", "--pull=never", "--name", c.name, "--publish", "127.0.0.1::8080", "--publish", "127.0.0.1::9090"}
	podman(t, append(append(append(run, flags...), image), args...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the container said:\n%s", c.said())
		}
		if _, err := tryPodman("rm", "--force", "--time", "0", c.name); err != nil {
			t.Error(err)
		}
	})
	c.ready.HTTP, c.ready.Ops = "http://"+c.port("8080"), "http://"+c.port("9090")
	return c
}

// port is the address by which a port of the container is reached.
func (c *container) port(inside string) string {
	c.t.Helper()
	return podman(c.t, "port", c.name, inside+"/tcp")
}

func (c *container) said() string {
	cmd := exec.Command(os.Getenv("CONTAINER_PODMAN"), "logs", c.name)
	out, _ := cmd.CombinedOutput()
	return string(out[max(0, len(out)-6000):])
}

// is asks Podman about the container.
func (c *container) is(format string) string {
	c.t.Helper()
	return podman(c.t, "inspect", "--format", format, c.name)
}

// untilHealthy waits until the image's own check says so, as an orchestrator
// does.
func (c *container) untilHealthy() {
	c.t.Helper()
	c.until("the container to be healthy", func() bool {
		if state := c.is("{{.State.Status}}"); state != "running" {
			c.t.Fatalf("the container is %s", state)
		}
		_, err := tryPodman("healthcheck", "run", c.name)
		return err == nil
	})
}

// kill ends the program as a power cut would, and the container with it.
func (c *container) kill() {
	c.t.Helper()
	pid, err := strconv.Atoi(c.is("{{.State.Pid}}"))
	if err != nil || pid < 2 {
		c.t.Fatalf("its process is %d, %v", pid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	c.until("the container to end", func() bool { return c.is("{{.State.Status}} {{.State.ExitCode}}") == "exited 137" })
	http.DefaultClient.CloseIdleConnections() // the same addresses lead elsewhere now
}

// stop ends the program as an orchestrator does, which waits for its drain.
func (c *container) stop() {
	c.t.Helper()
	podman(c.t, "stop", "--time", "30", c.name)
	if state := c.is("{{.State.Status}} {{.State.ExitCode}}"); state != "exited 0" {
		c.t.Errorf("after a stop it is %s", state)
	}
	http.DefaultClient.CloseIdleConnections()
}

var setupWord = regexp.MustCompile(`Setup word +(\S+)`)

// signUp makes the first account. It comes from outside the container, so it
// brings the word that the container's log tells, if the release has one.
func (c *container) signUp(email string) *person {
	c.t.Helper()
	who := &person{p: c.program, email: email}
	body := object{"email": email, "password": "correct horse battery staple"}
	if word := setupWord.FindStringSubmatch(c.said()); word != nil {
		body["setup_word"] = word[1]
	}
	who.token = who.must("POST", "/v1/auth/signup", body)["access_token"].(string)
	return who
}

// volume makes a volume that goes with the test.
func volume(t *testing.T) string {
	t.Helper()
	name := "liminal-" + id.New()
	podman(t, "volume", "create", name)
	t.Cleanup(func() {
		if _, err := tryPodman("volume", "rm", "--force", name); err != nil {
			t.Error(err)
		}
	})
	return name
}

// confined are the flags that say what deploy/compose says of our services.
func confined(t *testing.T, volume string) []string {
	t.Helper()
	var doc struct {
		Services map[string]struct {
			ReadOnly    bool     `yaml:"read_only"`
			Tmpfs       []string `yaml:"tmpfs"`
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			Volumes     []string `yaml:"volumes"`
		} `yaml:"services"`
	}
	raw, err := os.ReadFile("../deploy/compose/compose.yml")
	if err != nil || yaml.Unmarshal(raw, &doc) != nil {
		t.Fatalf("the compose file is not understood: %v", err)
	}
	s := doc.Services["server"]
	flags := []string{"--read-only=" + strconv.FormatBool(s.ReadOnly), "--read-only-tmpfs=false"} // which is how Docker means it
	for _, at := range s.Tmpfs {
		flags = append(flags, "--tmpfs", at)
	}
	for _, name := range s.CapDrop {
		flags = append(flags, "--cap-drop", strings.ToLower(name))
	}
	for _, option := range s.SecurityOpt {
		flags = append(flags, "--security-opt", option)
	}
	for _, v := range s.Volumes {
		flags = append(flags, "--volume", strings.Replace(v, "data:", volume+":", 1))
	}
	return flags
}

// Nobody in particular may do nothing in particular: that is what the kernel
// says of the process.
func (c *container) mustBeConfined() {
	c.t.Helper()
	at := "/proc/" + c.is("{{.State.Pid}}")
	status, err := os.ReadFile(at + "/status")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532", "NoNewPrivs:\t1", "Seccomp:\t2",
		"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
	} {
		if !slices.Contains(strings.Split(string(status), "\n"), line) {
			c.t.Errorf("the process is not %q:\n%s", line, status)
		}
	}
	mounts, err := os.ReadFile(at + "/mountinfo")
	if err != nil {
		c.t.Fatal(err)
	}
	// What there is to write to at all; whether the user may is the folder's to
	// say. /dev and /sys/fs/cgroup are root's.
	var writable []string
	for line := range strings.Lines(string(mounts)) {
		mount, system, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(system)[0]
		ours := !slices.Contains([]string{"proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2", "devtmpfs"}, kind)
		if ours && slices.Contains(strings.Split(fields[5], ","), "rw") && fields[4] != "/sys/fs/cgroup" {
			writable = append(writable, fields[4])
		}
	}
	if slices.Sort(writable); !slices.Equal(writable, []string{"/data", "/dev", "/dev/shm", "/tmp"}) {
		c.t.Errorf("%v can be written to", writable)
	}
	said, err := tryPodman("exec", c.name, "/usr/local/bin/liminald", "doctor", "--data", "/etc/liminal")
	if err == nil || !strings.Contains(err.Error(), "read-only file system") {
		c.t.Errorf("the program finds that it can write to /etc: %s%v", said, err)
	}
}

// probes are the paths that Kubernetes asks the containers of a manifest, each
// behind its port.
func probes(t *testing.T, manifest string) (asked []string) {
	t.Helper()
	raw, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	type probe struct {
		HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
	}
	var doc struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Ports []struct {
							Name string
							Port int `yaml:"containerPort"`
						}
						Readiness probe `yaml:"readinessProbe"`
						Liveness  probe `yaml:"livenessProbe"`
						Startup   probe `yaml:"startupProbe"`
					}
				}
			}
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader(raw)).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Spec.Template.Spec.Containers {
		ports := map[string]string{}
		for _, p := range c.Ports {
			ports[p.Name] = strconv.Itoa(p.Port)
		}
		for _, p := range []probe{c.Readiness, c.Liveness, c.Startup} {
			if p.HTTPGet.Path != "" {
				asked = append(asked, ports[p.HTTPGet.Port]+p.HTTPGet.Path)
			}
		}
	}
	if len(asked) == 0 {
		t.Errorf("%s probes nothing", manifest)
	}
	return asked
}

// mustAnswer asks what Kubernetes' probes ask.
func (c *container) mustAnswer(manifests ...string) {
	c.t.Helper()
	for _, file := range manifests {
		for _, asked := range probes(c.t, file) {
			port, path, _ := strings.Cut(asked, "/")
			res, err := http.Get("http://" + c.port(port) + "/" + path)
			if err != nil {
				c.t.Errorf("%s probes %s: %v", file, asked, err)
				continue
			}
			if res.Body.Close(); res.StatusCode != http.StatusOK {
				c.t.Errorf("%s probes %s, which answers %s", file, asked, res.Status)
			}
		}
	}
}

// waiting is somebody with a document and a question that waits.
type waiting struct {
	*person
	document, run, interrupt string
}

// paused reads a document in, in the process that reads what strangers wrote,
// and leaves a question open.
func (c *container) paused() waiting {
	c.t.Helper()
	w := waiting{person: c.signUp("ada@example.org")}
	tower, err := os.ReadFile("../internal/knowledge/extract/testdata/tower.pdf")
	if err != nil {
		c.t.Fatal(err)
	}
	docs := w.must("POST", "/v1/contexts", object{"name": "Towers"})["id"].(string)
	document := w.upload(docs, "tower.pdf", tower)
	if document["status"] != "ready" {
		c.t.Errorf("the document is %v", document)
	}
	w.document = document["id"].(string)
	greeter := w.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "greeter", "schema": greeting("Good day")})
	question := w.must("POST", "/v1/chat", object{"message": "hello", "workflow_id": greeter["id"]})["interrupt"].(object)
	w.run, w.interrupt = question["run_id"].(string), question["interrupt_id"].(string)
	return w
}

// mustGoOn signs in at a container that has the same volume, finds the document
// and answers the question.
func (w waiting) mustGoOn(c *container) {
	c.t.Helper()
	w.p = c.program
	w.signIn()
	if document := w.must("GET", "/v1/documents/"+w.document, nil); document["status"] != "ready" {
		c.t.Errorf("the document is %v", document)
	}
	w.must("POST", "/v1/chat/resume", object{"interrupt_id": w.interrupt, "resume_value": object{"type": "text_input", "value": "Ada"}})
	if done := last(c.t, w.follow(w.run, 0, nil), "message_done").object(); done["content"] != "Good day, Ada." {
		c.t.Errorf("the paused run ended with %q", done["content"])
	}
}

func TestTheImageLosesNothingToKill9(t *testing.T) {
	name := image(t, "CONTAINER_IMAGE")
	t.Parallel()
	c := contain(t, name, confined(t, volume(t)), "dev")
	c.untilHealthy()
	c.mustBeConfined()
	c.mustAnswer("../deploy/kubernetes/server.yaml", "../deploy/kubernetes/worker.yaml")
	w := c.paused()
	c.kill()
	if _, err := tryPodman("healthcheck", "run", c.name); err == nil {
		t.Error("a dead container is healthy")
	}
	podman(t, "start", c.name)
	c.untilHealthy()
	w.mustGoOn(c)
	c.stop()
}

// A volume of the release before this one is this one's, with what waits there;
// and where a root could be written to, nothing is.
func TestTheImageGoesOnWithAVolumeOfTheReleaseBefore(t *testing.T) {
	before, now := image(t, "CONTAINER_PREVIOUS"), image(t, "CONTAINER_IMAGE")
	t.Parallel()
	data := volume(t)
	old := contain(t, before, confined(t, data), "dev")
	old.until("the previous release", func() bool { return strings.Contains(old.said(), " is ready.") })
	w := old.paused()
	old.stop()

	c := contain(t, now, []string{"--volume", data + ":/data"}, "dev")
	c.untilHealthy()
	w.mustGoOn(c)
	if changed := podman(t, "diff", c.name); changed != "C /etc" { // where Podman mounts hosts and resolv.conf
		t.Errorf("outside its volume it changed:\n%s", changed)
	}
	c.stop()
}

// Without a command the image is a server, of a Temporal that is elsewhere.
func TestTheImageServesByDefault(t *testing.T) {
	name := image(t, "CONTAINER_IMAGE")
	t.Parallel()
	cluster := contain(t, name, confined(t, volume(t)), "dev", "--temporal", "0.0.0.0:7233")
	cluster.untilHealthy()
	at := cluster.is("{{.NetworkSettings.IPAddress}}")
	c := contain(t, name, append(confined(t, volume(t)), "--env", "TEMPORAL_ADDRESS="+at+":7233"))
	c.untilHealthy()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.ready.HTTP+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Errorf("the page is %s", res.Status)
	}
}

func TestTheImageHoldsTheProgramAndNothingElse(t *testing.T) {
	name := image(t, "CONTAINER_IMAGE")
	t.Parallel()
	var config []struct {
		Config struct {
			User, StopSignal      string
			Entrypoint, Cmd       []string
			Volumes, ExposedPorts map[string]any
		}
		Healthcheck struct{ Test []string }
	}
	if err := json.Unmarshal([]byte(podman(t, "image", "inspect", name)), &config); err != nil {
		t.Fatal(err)
	}
	is := config[0].Config
	if is.User != "65532:65532" || is.StopSignal != "SIGTERM" || is.Volumes["/data"] == nil ||
		!slices.Equal(is.Entrypoint, []string{"/usr/local/bin/liminald"}) || !slices.Equal(is.Cmd, []string{"server"}) ||
		!slices.Equal(slices.Sorted(maps.Keys(is.ExposedPorts)), []string{"8080/tcp", "9090/tcp"}) ||
		!slices.Equal(config[0].Healthcheck.Test, []string{"CMD", "/usr/local/bin/liminald", "healthcheck"}) {
		t.Errorf("it is %+v", config[0])
	}

	root := podman(t, "image", "mount", name)
	t.Cleanup(func() { podman(t, "image", "unmount", name) })
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if want := []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "usr/local/bin/liminald"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("it holds %v, %v", files, err)
	}
	for dir, mode := range map[string]fs.FileMode{"data": fs.ModeDir | 0o755, "tmp": fs.ModeDir | fs.ModeSticky | 0o777} {
		if info, err := os.Stat(filepath.Join(root, dir)); err != nil || info.Mode() != mode {
			t.Errorf("/%s: %v, %v", dir, info, err)
		}
	}
	authorities, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(authorities) {
		t.Errorf("it trusts nobody: %v", err)
	}
	program, err := elf.Open(filepath.Join(root, "usr/local/bin/liminald"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the program needs libraries, and there are none")
	}
}
