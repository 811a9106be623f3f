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

	"liminal/internal/config"
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
)

// serving is one process's hold on its data folder, its port and what answers
// there. Whatever it opened it closes in the reverse order, in bounded time.
type serving struct {
	log       *slog.Logger
	readyFile string
	listener  net.Listener
	failed    chan error // the HTTP server ended by itself
	opened    []opened
}

type opened struct {
	what  string
	close func(context.Context) error
}

// open takes the lock and the port before anything slow starts, so that what
// stands in the way is told at once.
func open(ctx context.Context, conf config.Config, readyFile string, log *slog.Logger) (*serving, error) {
	s := &serving{log: log, readyFile: readyFile, failed: make(chan error, 1)}
	held, err := lockData(conf.Data)
	if err != nil {
		return nil, err
	}
	s.onClose("the data lock", func(context.Context) error { return held.release() })
	if err := forgetReady(readyFile); err != nil {
		s.close()
		return nil, err
	}
	if s.listener, err = listenHTTP(ctx, conf.Listen); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *serving) onClose(what string, f func(context.Context) error) {
	s.opened = append(s.opened, opened{what, f})
}

// url is where a browser on this machine finds us.
func (s *serving) url() string {
	at := s.listener.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(at.Port))
}

// serve builds the platform, starts its worker, and answers HTTP.
func (s *serving) serve(ctx context.Context, conf config.Config, temporal string, log *slog.Logger) error {
	p, err := wire.Open(ctx, wire.Options{Config: conf, Logger: log, Temporal: temporal, Version: buildVersion()})
	if err != nil {
		return err
	}
	s.onClose("the platform", p.Close)
	if err := p.StartWorker(ctx); err != nil {
		return err
	}
	s.answer(p.Handler())
	return s.healthy(ctx)
}

// answer serves h and arranges for it to be drained: first no new requests,
// then a short grace, then every stream is told to end.
func (s *serving) answer(h http.Handler) {
	streams, endStreams := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return streams },
		ReadHeaderTimeout: headerLimit,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("the HTTP server ended: %w", err)
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
	if s.listener != nil {
		_ = s.listener.Close() // closed twice when it was served
	}
}
