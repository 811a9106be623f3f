package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"liminal/internal/capture/proxy"
	"liminal/internal/cputime"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// The capture proxy is measured beside the same without it, one stream through each in
// turn, against a backend that says in each chunk when it was sent.
const (
	palaceChunks   = 40
	palaceEvery    = 5 * time.Millisecond
	palaceHour     = 10 * time.Minute // no stream takes so long
	targetChunkP50 = 0.15             // ms
	targetChunkP99 = 0.5
	targetPalaceUs = 400 // of processor time a request
	targetIntake   = 200 // exchanges/s
)

// palaceBodies are the sizes of requests, and what may be added to the first byte, ms.
var palaceBodies = []struct {
	bytes  int
	target float64
}{{52 << 10, 1}, {400 << 10, 5}, {1600 << 10, 20}}

// ticker is that backend.
func ticker(w http.ResponseWriter, r *http.Request) {
	asked, _ := io.Copy(io.Discard, r.Body) // whoever asks may be gone, here and below
	w.Header().Set("X-Asked-Bytes", strconv.FormatInt(asked, 10))
	w.Header().Set("Content-Type", "text/event-stream")
	every, _ := time.ParseDuration(r.Header.Get("X-Every")) // then at once
	for n := range palaceChunks {
		if n > 0 && every > 0 {
			time.Sleep(every)
		}
		_, _ = fmt.Fprintf(w, "event: content_block_delta\ndata: %d\n\n", time.Now().UnixNano())
		_ = http.NewResponseController(w).Flush()
	}
}

// palaceBench is a proxy before that backend.
type palaceBench struct {
	dir            string
	direct, behind string // base URLs
	close          func() error
}

func openPalaceBench(ctx context.Context, dir string) (b *palaceBench, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/messages", ticker)
	mux.HandleFunc("/v1/exact", exact)
	backend := &http.Server{Handler: mux, ReadHeaderTimeout: palaceHour}
	go func() { _ = backend.Serve(l) }()
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	b = &palaceBench{dir: filepath.Join(dir, "palace"), direct: "http://" + l.Addr().String()}
	go func() {
		ended <- proxy.Serve(ctx, proxy.Options{
			Dir: b.dir, Address: "127.0.0.1:0", Upstream: b.direct, Memory: 128 << 20, Disk: 20 << 30, Log: slog.New(slog.DiscardHandler),
			Ready: func(address string) error { ready <- address; return nil },
		})
	}()
	b.close = func() error { cancel(); return errors.Join(<-ended, backend.Close()) }
	select {
	case address := <-ready:
		token, err := proxy.AddToken(b.dir, proxy.Agent{Name: "bench"})
		b.behind = proxy.BaseURL(address, token)
		return b, err
	case err := <-ended:
		cancel()
		return nil, errors.Join(err, backend.Close())
	}
}

// stream asks once as an agent, "": as none that is named, and tells when the first byte
// came and how late each chunk was.
func (b *palaceBench) stream(ctx context.Context, base, agent string, body []byte, every time.Duration) (first time.Duration, late []time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Every", every.String())
	if agent != "" {
		req.Header.Set("X-Palace-Agent", agent)
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if first == 0 {
			first = time.Since(began)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, nil, err
		}
		if sent, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			at, err := strconv.ParseInt(sent, 10, 64)
			if err != nil {
				return 0, nil, err
			}
			late = append(late, time.Since(time.Unix(0, at)))
		}
	}
	if len(late) != palaceChunks {
		err = fmt.Errorf("a stream had %d chunks of %d", len(late), palaceChunks)
	}
	return first, late, err
}

// palaceBody is a request of about so many bytes, of messages of a kilobyte.
func palaceBody(size, n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m","stream":true,"messages":[`)
	for b.Len() < size {
		fmt.Fprintf(&b, `{"role":"user","content":"%d %s"},`, b.Len(), strings.Repeat("x", 1000))
	}
	fmt.Fprintf(&b, `{"role":"user","content":"%d"}]}`, n)
	return b.Bytes()
}

func (b *benchmark) measurePalace(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.house.conf.Data, "bench-")
	if err != nil {
		return err
	}
	for n, measure := range []func(context.Context, string) error{b.palaceWhole, b.palaceDisk, b.palaceIdle, b.palaceRules, b.palaceViewed} {
		if err := measure(ctx, filepath.Join(dir, strconv.Itoa(n))); err != nil {
			return err
		}
	}
	p, err := openPalaceBench(ctx, dir)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, p.close())
		}
	}()
	asked := 0
	for _, size := range palaceBodies {
		if asked, err = b.palaceAdded(ctx, p, size.bytes, size.target, asked); err != nil {
			return err
		}
	}
	n, err := b.palaceCPU(ctx, p, asked)
	if err != nil {
		return err
	}
	open = false
	if err := p.close(); err != nil {
		return err
	}
	return b.palaceIntake(ctx, p, asked+n)
}

// palaceAdded measures what the proxy adds to chunks and first bytes.
func (b *benchmark) palaceAdded(ctx context.Context, p *palaceBench, size int, target float64, asked int) (int, error) {
	count := max(20, b.sizes.alone/5)
	var firsts, lates [2][]time.Duration
	for n := range count {
		body := palaceBody(size, n)
		for i, base := range []string{p.direct, p.behind} {
			first, late, err := p.stream(ctx, base, "", body, palaceEvery)
			if err != nil {
				return asked, err
			}
			firsts[i], lates[i] = append(firsts[i], first), append(lates[i], late...)
		}
		asked++
	}
	added := func(q func(spread) time.Duration, of [2][]time.Duration) float64 {
		return milliseconds(q(distribution(of[1])) - q(distribution(of[0])))
	}
	p50, p99 := func(s spread) time.Duration { return s.p50 }, func(s spread) time.Duration { return s.p99 }
	what, of := fmt.Sprintf("capture proxy, %d KB", size>>10), fmt.Sprintf("%d streams", count)
	b.report.add(
		row(what+": added to a chunk, p50", added(p50, lates), "ms", of).atMost(targetChunkP50),
		row(what+": added to a chunk, p99", added(p99, lates), "ms", of).atMost(targetChunkP99),
		row(what+": added to the first byte, p50", added(p50, firsts), "ms", of).atMost(target),
	)
	return asked, nil
}

// palaceCPU measures the processor time that the proxy adds to a request.
func (b *benchmark) palaceCPU(ctx context.Context, p *palaceBench, asked int) (count int, err error) {
	count = b.sizes.alone
	var used [2]time.Duration
	for i, base := range []string{p.direct, p.behind} {
		began := cputime.Process()
		for n := range count {
			if _, _, err := p.stream(ctx, base, "", palaceBody(palaceBodies[0].bytes, asked+n), 0); err != nil {
				return 0, err
			}
		}
		used[i] = cputime.Process() - began
	}
	each := float64((used[1] - used[0]).Microseconds()) / float64(count)
	b.report.add(row(fmt.Sprintf("capture proxy, %d KB: added to a request, CPU", palaceBodies[0].bytes>>10), each, "µs", fmt.Sprintf("%d requests of %d chunks", count, palaceChunks)).atMost(targetPalaceUs))
	return count, nil
}

// palaceIntake takes in what the proxy kept.
func (b *benchmark) palaceIntake(ctx context.Context, p *palaceBench, count int) error {
	intake := palace.NewIntake(palace.IntakeOptions{
		Dir: p.dir, Spool: proxy.SpoolDir(p.dir), Store: b.house.platform.Store(), Log: slog.New(slog.DiscardHandler),
		Owner: func(context.Context) (identity.Viewer, error) { return b.house.person(0), nil },
	})
	began := time.Now()
	if err := intake.All(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	taken, _ := intake.Counts()
	if int(taken) != count {
		return fmt.Errorf("%d exchanges were taken in of %d", taken, count)
	}
	b.report.add(row("exchanges of the capture proxy taken in", float64(count)/took.Seconds(), "/s", fmt.Sprintf("%d exchanges", count)).atLeast(targetIntake))
	return nil
}
