package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/proxy"
	"liminal/internal/id"
)

const (
	palaceAtOnce   = 64
	palaceSmall    = 8 << 10 // bytes of a request, where their number is what counts
	targetIdleMiB  = 64
	targetDiskMB   = 2
	palaceHistory  = 100       // requests of a conversation
	palaceGrown    = 400 << 10 // bytes of its last one
	palaceBegins   = 20 * time.Second
	palaceAskAgain = 10 * time.Millisecond
)

// exact answers a request with what follows from its bytes and from nothing else.
func exact(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range answerTo(body) {
		_, _ = io.WriteString(w, piece) // whoever asks may be gone
		_ = http.NewResponseController(w).Flush()
	}
}

func answerTo(body []byte) (pieces []string) {
	sum := sha256.Sum256(body)
	for n := range palaceChunks {
		pieces = append(pieces, fmt.Sprintf("event: content_block_delta\ndata: %x %d\n\n", sum, n))
	}
	return pieces
}

// palaceWhole sends many streams at once, and counts those that were cut or changed.
func (b *benchmark) palaceWhole(ctx context.Context, dir string) (err error) {
	p, err := openPalaceBench(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	count := 50 * b.sizes.alone
	var next, cut, changed atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: palaceAtOnce}}
	defer client.CloseIdleConnections()
	var wait sync.WaitGroup
	for range palaceAtOnce {
		wait.Go(func() {
			for n := int(next.Add(1)); n <= count; n = int(next.Add(1)) {
				body := palaceBody(palaceSmall, n)
				got, err := post(ctx, client, p.behind+"/v1/exact", body)
				switch {
				case err != nil:
					cut.Add(1)
				case string(got) != strings.Join(answerTo(body), ""):
					changed.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	of := fmt.Sprintf("%d streams of %d chunks, %d at once", count, palaceChunks, palaceAtOnce)
	b.report.add(
		row("capture proxy: streams cut", float64(cut.Load()), "", of).atMost(0),
		row("capture proxy: streams with a byte changed", float64(changed.Load()), "", of).atMost(0),
	)
	return nil
}

func post(ctx context.Context, c *http.Client, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	return io.ReadAll(resp.Body)
}

// palaceDisk keeps a conversation that grows, and measures what it takes.
func (b *benchmark) palaceDisk(ctx context.Context, dir string) error {
	spool, err := capture.Open(capture.Options{Dir: dir, Memory: 128 << 20, Disk: 20 << 30, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	text, sent := newProse(11), 0
	history := `{"model":"m","stream":true,"system":"` + text.passage(8<<10) + `","messages":[`
	for n := range palaceHistory {
		more := (palaceGrown - len(history)) / (palaceHistory - n)
		history += `{"role":"user","content":"` + text.passage(max(1, more-200)) + `"},`
		body := []byte(strings.TrimSuffix(history, ",") + `]}`)
		sent += len(body)
		r := spool.Begin(capture.Request{ID: id.New(), Started: time.Now(), Method: http.MethodPost, Path: "/v1/messages", Size: int64(len(body))}, body)
		r.Answer(http.StatusOK, http.Header{"Content-Type": {"text/event-stream"}})
		for range palaceChunks {
			r.Chunk([]byte("event: content_block_delta\ndata: " + text.sentence() + "\n\n"))
		}
		r.End(capture.Ending{Ended: time.Now(), Complete: true})
	}
	if err := spool.Close(ctx); err != nil {
		return err
	}
	used := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		used += info.Size()
	}
	b.report.add(row("capture proxy: disk of a conversation", float64(used)/1e6, "MB", fmt.Sprintf("%d requests growing to %d KB, %.0f MB sent", palaceHistory, palaceGrown>>10, float64(sent)/1e6)).atMost(targetDiskMB))
	return nil
}

// palaceIdle measures the memory of a proxy in a process of its own that nothing has
// passed yet, where the system tells it.
func (b *benchmark) palaceIdle(ctx context.Context, dir string) (err error) {
	if b.proxy == nil {
		return nil
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return nil //nolint:nilerr // not on this system
	}
	cmd := b.proxy(dir)
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }() // as it was killed
	limit, cancel := context.WithTimeout(ctx, palaceBegins)
	defer cancel()
	for {
		if _, err := proxy.Ask(limit, filepath.Join(dir, "palace")); err == nil {
			break
		}
		select {
		case <-limit.Done():
			return errors.New("the proxy did not begin in time")
		case <-time.After(palaceAskAgain):
		}
	}
	resident, err := memoryOf(cmd, "VmRSS")
	if err != nil {
		return err
	}
	own, err := memoryOf(cmd, "RssAnon")
	if err != nil {
		return err
	}
	// The rest is the program's file, which all of its processes share.
	b.report.add(
		row("capture proxy: memory, idle", resident, "MiB", "1 process").atMost(targetIdleMiB),
		row("capture proxy: memory, idle, without the program's file", own, "MiB", "1 process"),
	)
	return nil
}

// memoryOf is a kind of memory of a process, in MiB.
func memoryOf(cmd *exec.Cmd, kind string) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, kind+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("the system does not tell %s of the proxy", kind)
}
