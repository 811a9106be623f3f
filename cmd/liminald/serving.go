package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"liminal/internal/cell"
	"liminal/internal/config"
	"liminal/internal/mcp"
	"liminal/internal/wire"
)

const (
	// drainLimit bounds everything between the first signal and the end.
	drainLimit = 20 * time.Second
	// requestGrace is how long requests may finish before their streams are
	// closed; a reader comes back to the same event, so it need not be long.
	requestGrace = 2 * time.Second
	// headerLimit bounds how long a client may take to say what it wants.
	headerLimit = 10 * time.Second
	// idleLimit bounds how long a connection may be kept without a request.
	idleLimit = 2 * time.Minute
	// maxHeader bounds the head of a request, in bytes.
	maxHeader = 64 << 10
)

// serving is one process's hold on its data folder, its ports and what answers
// there. Whatever it opened it closes in the reverse order, in bounded time.
type serving struct {
	log       *slog.Logger
	readyFile string
	local     bool         // people reach it by this machine's names and those of the settings alone
	listener  net.Listener // of the API; nil for a worker
	ops       net.Listener // of probes and metrics; nil when there is none
	failed    chan error   // an HTTP server ended by itself
	opened    []opened
	setup     string // the word of the first account; empty once there is one
}

type opened struct {
	what  string
	close func(context.Context) error
}

// open takes the lock and the ports before anything slow starts, so that what
// stands in the way is told at once. api says whether this process serves
// people.
func open(ctx context.Context, conf config.Config, readyFile string, api bool, log *slog.Logger) (*serving, error) {
	s := &serving{log: log, readyFile: readyFile, failed: make(chan error, 2)}
	if err := s.open(ctx, conf, api); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *serving) open(ctx context.Context, conf config.Config, api bool) (err error) {
	if !conf.Production() { // PostgreSQL takes many at once, a SQLite file has one master
		held, err := lockData(conf.Data)
		if err != nil {
			return err
		}
		s.onClose("the data lock", func(context.Context) error { return held.release() })
	}
	if err := forgetReady(s.readyFile); err != nil {
		return err
	}
	if api {
		if s.listener, err = listenHTTP(ctx, conf.Listen, "--listen"); err != nil {
			return err
		}
	}
	if conf.OpsListen != "" {
		s.ops, err = listenHTTP(ctx, conf.OpsListen, "LIMINAL_OPS_LISTEN")
	}
	return err
}

func (s *serving) onClose(what string, f func(context.Context) error) {
	s.opened = append(s.opened, opened{what, f})
}

// url is where a browser on this machine finds us.
func (s *serving) url() string { return urlOf(s.listener) }

func urlOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	at := l.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(at.Port))
}

// serve builds the platform, starts its worker when this process has one, and
// answers HTTP.
func (s *serving) serve(ctx context.Context, conf config.Config, temporal string, works bool, log *slog.Logger) error {
	return s.start(ctx, conf, temporal, works, kinds{}, log)
}

// serveKinds is serve for a worker that takes calls of some kinds.
func (s *serving) serveKinds(ctx context.Context, conf config.Config, temporal string, k kinds, log *slog.Logger) error {
	return s.start(ctx, conf, temporal, true, k, log)
}

// kinds are the calls a worker takes: those of one kind and nothing else, or all
// there is but those of one kind. Neither: all there is.
type kinds struct{ only, except string }

func (s *serving) start(ctx context.Context, conf config.Config, temporal string, works bool, k kinds, log *slog.Logger) error {
	readers, err := cell.Self(readersCommand)
	if err != nil {
		return err
	}
	programs, err := cell.Self(mcpProgramCommand)
	if err != nil {
		return err
	}
	p, err := wire.Open(ctx, wire.Options{
		MCPPrograms: mcp.Program{Path: programs.Path, Args: programs.Args},
		Config:      conf, Logger: log, Temporal: temporal, URL: s.url(), Local: s.local, Version: buildVersion(), Readers: readers, Trainers: trainersCommand, Only: k.only, Except: k.except,
	})
	if err != nil {
		return err
	}
	s.onClose("the platform", p.Close)
	if works {
		if err := p.StartWorker(ctx); err != nil {
			return err
		}
	}
	if s.ops != nil { // asked by address, and nothing there can be changed: any name will do
		s.answer(s.ops, p.Ops())
	}
	if s.listener != nil {
		s.answer(s.listener, p.Handler())
	}
	// First of all that ends: who balances load must look elsewhere.
	s.onClose("the gate", func(context.Context) error { p.Drain(); return nil })
	p.Ready()
	if s.listener == nil {
		return nil
	}
	if s.setup, err = p.SetupWord(ctx); err != nil {
		return err
	}
	return s.healthy(ctx)
}

// answer serves h and arranges for it to be drained: first no new requests,
// then a short grace, then every stream is told to end.
func (s *serving) answer(l net.Listener, h http.Handler) {
	streams, endStreams := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return streams },
		ReadHeaderTimeout: headerLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("the HTTP server on %s ended: %w", l.Addr(), err)
		}
	}()
	s.onClose("the HTTP server", func(ctx context.Context) error {
		defer endStreams()
		grace, cancel := context.WithTimeout(ctx, requestGrace)
		defer cancel()
		if server.Shutdown(grace) == nil {
			return nil
		}
		endStreams()
		ctx, cancel = context.WithTimeout(ctx, requestGrace)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			return server.Close()
		}
		return nil
	})
}

// healthy asks our own front door, so that "ready" means what it says.
func (s *serving) healthy(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("our own HTTP server on %s does not answer: %w", s.listener.Addr(), err)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // only the status matters
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("our own HTTP server on %s says it is not well: %s", s.listener.Addr(), resp.Status)
	}
	return nil
}

// announce writes the ready file, and sees to it that it goes with us.
func (s *serving) announce(r ready) error {
	if s.readyFile == "" {
		return nil
	}
	s.onClose("the ready file", func(context.Context) error { return forgetReady(s.readyFile) })
	return r.write(s.readyFile)
}

// wait returns when the process is asked to end or can no longer serve.
func (s *serving) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// close ends everything that was opened, last first, and tells what resisted.
func (s *serving) close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	for _, o := range slices.Backward(s.opened) {
		if err := o.close(ctx); err != nil {
			s.log.Warn("closing was not clean", "part", o.what, "error", err)
		}
	}
	s.opened = nil
	for _, l := range []net.Listener{s.listener, s.ops} {
		if l != nil {
			_ = l.Close() // closed twice when it was served
		}
	}
}
