// Package deploy_test holds the files of this folder to the program: settings,
// subcommands, ports and paths they name must exist.
package deploy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"liminal/internal/config"
)

type object = map[string]any

// documents reads every document of a YAML file.
func documents(t *testing.T, file string) (list []object) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	for {
		var doc object
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, doc)
	}
}

// settings are all variables the program reads.
func settings() map[string]bool {
	names := map[string]bool{}
	for _, v := range config.Variables() {
		names[v.Name] = true
	}
	return names
}

// ours are the names that only our program could mean.
var ours = regexp.MustCompile(`^(LIMINAL|TEMPORAL|DATABASE|REDIS|SHARED)_`)

// Requirements: OPS-10
func TestComposeStartsEveryPartWithSettingsThereAre(t *testing.T) {
	t.Parallel()
	doc := documents(t, "compose/compose.yml")[0]
	services := doc["services"].(object)
	for _, part := range []string{"postgres", "redis", "temporal", "temporal-ui", "migrate", "server", "worker", "tools", "proxy", "prometheus", "grafana"} {
		if services[part] == nil {
			t.Errorf("compose starts no %s", part)
		}
	}
	known := settings()
	for _, part := range []string{"migrate", "server", "worker", "tools"} {
		s, _ := services[part].(object)
		env, _ := s["environment"].(object)
		for name := range env {
			if !known[name] {
				t.Errorf("%s sets %s, which is no setting of the program", part, name)
			}
		}
		for _, must := range []string{"DATABASE_URL", "REDIS_URL", "TEMPORAL_ADDRESS"} {
			if env[must] == nil {
				t.Errorf("%s runs without %s", part, must)
			}
		}
	}
	for name, s := range services {
		for _, v := range asList(s.(object)["volumes"]) {
			if from, _, _ := strings.Cut(v.(string), ":"); strings.HasPrefix(from, ".") {
				if _, err := os.Stat(filepath.Join("compose", from)); err != nil {
					t.Errorf("%s mounts %s: %v", name, from, err)
				}
			}
		}
		for _, p := range asList(s.(object)["ports"]) {
			if name != "proxy" && !strings.HasPrefix(p.(string), "127.0.0.1:") {
				t.Errorf("%s opens %v to everybody", name, p)
			}
		}
	}
	example, err := os.ReadFile("compose/.env.example")
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile("compose/compose.yml")
	for _, m := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllStringSubmatch(string(raw), -1) {
		if !strings.Contains(string(example), m[1]+"=") {
			t.Errorf("compose asks for %s, which .env.example lacks", m[1])
		}
	}
}

// Calls of tools have workers of their own, that take nothing else, as one user,
// with shares and memory of their own; the other workers leave these calls to
// them.
//
// Requirements: TOOL-04 (a pool of its own)
func TestToolsHaveWorkersOfTheirOwn(t *testing.T) {
	t.Parallel()
	services := documents(t, "compose/compose.yml")[0]["services"].(object)
	tools, others := services["tools"].(object), services["worker"].(object)
	if got := fmt.Sprint(tools["command"], others["command"]); got != "[worker --only tools] [worker --except tools]" {
		t.Errorf("compose starts %s", got)
	}
	if tools["user"] != "65532:65532" || tools["cpu_shares"] == nil || tools["mem_limit"] == nil || tools["read_only"] != true {
		t.Errorf("compose bounds the tools with %v", tools)
	}
	args := map[string]string{}
	for _, file := range []string{"worker.yaml", "tools.yaml"} {
		for _, doc := range documents(t, filepath.Join("kubernetes", file)) {
			if doc["kind"] != "Deployment" {
				continue
			}
			pod := doc["spec"].(object)["template"].(object)["spec"].(object)
			c := pod["containers"].([]any)[0].(object)
			args[file] = fmt.Sprint(c["args"])
			limits, requests := c["resources"].(object)["limits"].(object), c["resources"].(object)["requests"].(object)
			if file == "tools.yaml" && (pod["securityContext"].(object)["runAsUser"] != 65532 || limits["memory"] == nil || requests["cpu"] == nil) {
				t.Errorf("the tools are bounded by %v and %v", pod["securityContext"], c["resources"])
			}
		}
	}
	if args["worker.yaml"] != "[worker --except tools]" || args["tools.yaml"] != "[worker --only tools]" {
		t.Errorf("the manifests start %v", args)
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// Requirements: OPS-10
func TestTheManifestsNameWhatThereIs(t *testing.T) {
	t.Parallel()
	known := settings()
	kinds := map[string]int{}
	for _, file := range asList(documents(t, "kubernetes/kustomization.yaml")[0]["resources"]) {
		for _, doc := range documents(t, filepath.Join("kubernetes", file.(string))) {
			kinds[doc["kind"].(string)]++
			for _, section := range []string{"data", "stringData"} {
				values, _ := doc[section].(object)
				for name := range values {
					if !known[name] {
						t.Errorf("%s sets %s, which is no setting of the program", file, name)
					}
				}
			}
		}
	}
	if kinds["Deployment"] != 3 || kinds["Ingress"] != 1 || kinds["NetworkPolicy"] != 3 || kinds["PersistentVolumeClaim"] != 1 {
		t.Errorf("the manifests hold %v", kinds)
	}
	for _, doc := range documents(t, "kubernetes/secret.example.yaml") {
		for name := range maps.Keys(doc["stringData"].(object)) {
			if !known[name] {
				t.Errorf("the example secret sets %s, which is no setting of the program", name)
			}
		}
	}
}

// Requirements: OPS-06 (terminates TLS; rate limits)
func TestProxiesBufferNothingAndTerminateTLS(t *testing.T) {
	t.Parallel()
	for file, must := range map[string][]string{
		"proxy/liminal-proxy.conf":        {"proxy_buffering off;", "proxy_request_buffering off;", "proxy_http_version 1.1;", "Upgrade $http_upgrade"},
		"proxy/nginx.conf":                {"listen 443 ssl", "limit_req ", "limit_conn ", "client_max_body_size 210m", "location /v1/auth/", "(metrics|readyz)"},
		"proxy/Caddyfile":                 {"flush_interval -1", "max_size 210MB", "/metrics /readyz", "Strict-Transport-Security"},
		"kubernetes/ingress.yaml":         {`proxy-buffering: "off"`, "tls:", "limit-rps"},
		"compose/compose.yml":             {"--storage.tsdb.retention.time=14d"},
		"container/Dockerfile":            {"nonroot", "USER 65532:65532", "STOPSIGNAL SIGTERM", "HEALTHCHECK "},
		"systemd/liminald-server.service": {"server --no-worker", "TimeoutStopSec=40"},
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, text := range must {
			if !strings.Contains(string(raw), text) {
				t.Errorf("%s lacks %q", file, text)
			}
		}
	}
}

// Fifty nights of the script, with a pg_dump that only writes a file.
//
// Requirements: OPS-05 (nightly dump kept 7 days; weekly copy kept 4 weeks; Redis not backed up)
func TestBackupsAreMadeEveryNightAndKeptAsLongAsPromised(t *testing.T) {
	t.Parallel()
	timer, err := os.ReadFile("systemd/liminald-backup.timer")
	if err != nil || !regexp.MustCompile(`(?m)^OnCalendar=\*-\*-\* \d\d:\d\d:\d\d UTC$`).Match(timer) {
		t.Errorf("the timer does not go off every night (%v):\n%s", err, timer)
	}
	for _, name := range []string{"bash", "flock"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("there is no %s here, and in CI nothing may be left out", name)
			}
			t.Skipf("SKIPPED: there is no %s here", name)
		}
	}
	dir := t.TempDir()
	kept, data, bin := filepath.Join(dir, "backup"), filepath.Join(dir, "data"), filepath.Join(dir, "bin")
	for file, text := range map[string]string{
		filepath.Join(data, "users", "ada", "lease.md"): "The rent is due.",
		filepath.Join(bin, "pg_dump"):                   "#!/bin/sh\nfor a; do case $a in --file=*) echo dump >\"${a#--file=}\";; esac; done\n",
		filepath.Join(bin, "pg_restore"):                "#!/bin/sh\n",
		filepath.Join(bin, "redis-cli"):                 "#!/bin/sh\necho asked >" + filepath.Join(dir, "redis") + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	night := time.Date(2026, 10, 1, 2, 0, 0, 0, time.UTC)
	for range 50 {
		run := exec.CommandContext(t.Context(), "bash", "backup/backup.sh")
		run.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BACKUP_URL=postgres://db", "BACKUP_DIR="+kept,
			"SHARED_FS_ROOT="+data, "REDIS_URL=redis://cache", "BACKUP_NOW="+night.Format("20060102T150405Z"))
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		night = night.AddDate(0, 0, 1)
	}
	last := night.AddDate(0, 0, -1)
	dumps, _ := filepath.Glob(filepath.Join(kept, "dumps", "*.dump"))
	if want := "liminal-" + last.AddDate(0, 0, -7).Format("20060102T150405Z") + ".dump"; len(dumps) != 8 || filepath.Base(dumps[0]) != want {
		t.Errorf("of seven nights and the last one there are left %v", dumps)
	}
	copies, _ := filepath.Glob(filepath.Join(kept, "files", "*-W*"))
	year, week := last.AddDate(0, 0, -28).ISOWeek()
	if len(copies) != 5 || filepath.Base(copies[0]) != fmt.Sprintf("%d-W%02d", year, week) {
		t.Errorf("of four weeks and the last one there are left %v", copies)
	}
	if lease, err := os.ReadFile(filepath.Join(copies[len(copies)-1], "users", "ada", "lease.md")); err != nil || len(lease) == 0 {
		t.Errorf("the copy holds %q, %v", lease, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "redis")); err == nil {
		t.Error("Redis was backed up")
	}
}

// Requirements: OBS-04
func TestFiguresAndLogsAreKeptAsLongAsPromised(t *testing.T) {
	t.Parallel()
	for file, must := range map[string]string{
		"compose/compose.yml":           "--storage.tsdb.retention.time=14d",
		"systemd/journald-liminal.conf": "MaxRetentionSec=60day",
	} {
		raw, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(raw), must) {
			t.Errorf("%s lacks %q (%v)", file, must, err)
		}
	}
	services := documents(t, "compose/compose.yml")[0]["services"].(object)
	for _, part := range []string{"server", "worker"} {
		if logging, _ := services[part].(object)["logging"].(object); logging["driver"] != "journald" {
			t.Errorf("the logs of the %s go to %v", part, logging)
		}
	}
}

// Every variable with one of our prefixes that any file here names must be a
// setting, or one that the file itself defines.
func TestFilesNameSettingsThatExist(t *testing.T) {
	t.Parallel()
	own := []string{"LIMINAL_HOST", "LIMINAL_SERVERS", "LIMINAL_OWNER_PASSWORD", "LIMINAL_APP_PASSWORD", "REDIS_PASSWORD", "TEMPORAL_BACKUP_URLS"}
	known := settings()
	names := regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".go") {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, name := range names.FindAllString(string(raw), -1) {
			if ours.MatchString(name) && !known[name] && !slices.Contains(own, name) {
				t.Errorf("%s names %s, which is no setting of the program", file, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestScriptsAreSound(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"backup/backup.sh", "backup/restore.sh", "compose/postgres-init.sh"} {
		if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		raw, err := os.ReadFile(script)
		if err != nil || !strings.Contains(string(raw), "set -euo pipefail") {
			t.Errorf("%s goes on after an error (%v)", script, err)
		}
	}
}
