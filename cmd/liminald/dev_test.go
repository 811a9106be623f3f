package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Requirements: DATA-16 (shared/tools)
func TestDevIsReadyWhenEverythingAnswersAndDrainsOnSIGTERM(t *testing.T) {
	t.Parallel()
	p := dev(t, filepath.Join(t.TempDir(), "new", "data"))
	if status, _ := fetch(t, p.where.HTTP+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz answers %d", status)
	}
	if _, page := fetch(t, p.where.TemporalUI); !strings.Contains(page, "<html") {
		t.Errorf("the Temporal UI serves %.100q", page)
	}
	conn, err := net.Dial("tcp", p.where.Temporal)
	if err != nil {
		t.Errorf("Temporal: %v", err)
	} else {
		_ = conn.Close()
	}
	if p.err.Len() > 0 {
		t.Errorf("it started with words nobody needs:\n%s", &p.err)
	}
	for _, folder := range []string{"models", "tools"} {
		if info, err := os.Stat(filepath.Join(p.data, "shared", folder)); err != nil || !info.IsDir() {
			t.Errorf("there is no folder shared/%s: %v", folder, err)
		}
	}
	if p.where.Version == "" {
		t.Error("no version in the ready file")
	}
	began := time.Now()
	p.stop()
	if took := time.Since(began); took > stopLimit {
		t.Errorf("draining took %s", took)
	}
	has(t, p.out.String(), p.where.HTTP, p.where.TemporalUI, p.data) // all of it is here by now
	if _, err := os.Stat(p.file); !os.IsNotExist(err) {
		t.Error("the ready file outlived the process")
	}
	if p.err.Len() > 0 && strings.Contains(p.err.String(), "not clean") {
		t.Errorf("it complained:\n%s", &p.err)
	}
}

func TestOnlyOneProcessAtATimeUsesADataFolder(t *testing.T) {
	t.Parallel()
	p := dev(t, t.TempDir())
	code, _, said := finish(t, nil, "dev", "--data", p.data, "--listen", "127.0.0.1:0")
	if code != exitFailed {
		t.Errorf("the second process ended with %d", code)
	}
	oneSentence(t, said)
	has(t, said, "another liminald (process ", p.data, "--data")

	p.kill() // the kernel lets go of the lock of a process that was killed
	dev(t, p.data).stop()
}

func TestDevSaysInOneSentenceWhatStandsInItsWay(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	taken := l.Addr().String()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"taken port":          {[]string{"--listen", taken}, exitFailed, "port " + taken + " is taken"},
		"taken Temporal port": {[]string{"--listen", "127.0.0.1:0", "--temporal", taken}, exitFailed, "the port is taken"},
		"taken UI port":       {[]string{"--listen", "127.0.0.1:0", "--temporal", "127.0.0.1:0", "--temporal-ui", taken}, exitFailed, "the port is taken"},
		"no folder":           {[]string{"--data", filepath.Join(file, "sub")}, exitFailed, "cannot be made: not a directory"},
		"no ready file":       {[]string{"--ready-file", filepath.Join(file, "r"), "--listen", "127.0.0.1:0"}, exitFailed, "ready file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"dev", "--data", t.TempDir()}, c.args...)
			code, _, said := finish(t, nil, args...)
			if code != c.code {
				t.Errorf("it ended with %d", code)
			}
			oneSentence(t, said)
			has(t, said, c.says)
		})
	}
}

func TestASecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	p := dev(t, t.TempDir())
	p.signal(syscall.SIGTERM)
	_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended just now
	if code := p.end(); code != exitFailed && code != exitOK {
		t.Errorf("it ended with %d\n%s", code, &p.err)
	}
}

func fetch(t *testing.T, url string) (status int, body string) {
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
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
