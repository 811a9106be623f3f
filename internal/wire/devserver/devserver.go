// Package devserver runs a Temporal server and its web UI inside this process,
// on two SQLite files, so that one command is enough to try the platform. The
// server of the test stack (scripts/temporal) is the same one on PostgreSQL.
//
// It is the only package that may import the Temporal server and its UI:
// compiling them takes minutes, and nothing else should pay for that. It knows
// nothing of the platform built on top of it, not even which workflows run.
package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/temporal"
)

// Namespace is the one namespace the embedded server keeps.
const Namespace = "default"

const (
	defaultFrontend = "127.0.0.1:7233"
	defaultUI       = "127.0.0.1:8233"

	// startLimit bounds how long Start waits for the server to answer. A start
	// takes half a second on an idle machine; a loaded one may need many times that.
	startLimit = 30 * time.Second
	// readyLimit is how long the server may take to answer once it was started: a
	// busy machine needs more than the SDK's five seconds.
	readyLimit = time.Minute
	// stopLimit bounds Stop: the server itself allows minutes, a terminal does not.
	stopLimit = 10 * time.Second
)

// Options says where an embedded server keeps its data and listens.
type Options struct {
	// Dir is the folder of the server's SQLite files. It is made when missing.
	Dir string
	// Databases makes other databases ready than the files of Dir; nil means
	// those. Whoever brings them also registers the namespace.
	Databases func(ctx context.Context) (Databases, error)
	// Frontend is the host:port of the gRPC frontend; empty means
	// 127.0.0.1:7233, port 0 a free one. The host must be an address of this
	// machine.
	Frontend string
	// UI is the host:port of the web UI; empty means 127.0.0.1:8233, port 0 a
	// free one.
	UI string
	// UIURLs and UIHosts are the URLs and names by which the web UI is reached
	// beside its address and those of this machine.
	UIURLs, UIHosts []string
	// Logger receives the server's warnings and errors; nil keeps it silent.
	Logger *slog.Logger
}

// Databases are where a server keeps its runs, and the lists it shows of them.
type Databases struct {
	Runs, Lists *config.SQL
	// Shards is how many runs are written at once; it stays what it was when
	// the databases were made.
	Shards int32
}

// Server is a running embedded Temporal server with its web UI.
type Server struct {
	frontend address
	ui       *webUI
	server   temporal.Server
	log      *quietLogger
}

// Start runs a server and returns once its frontend and its web UI answer. A
// taken port, an unwritable folder or a damaged file is told in one sentence.
// ctx bounds the start only; the caller ends the server with Stop.
func Start(ctx context.Context, o Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	at, err := o.addresses(ctx)
	if err != nil {
		return nil, err
	}
	if o.Databases == nil {
		o.Databases = func(ctx context.Context) (Databases, error) { return openFiles(ctx, o.Dir) }
	}
	kept, err := o.Databases(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{frontend: at.frontend, log: newQuietLogger(o.Logger)}
	if s.server, err = newServer(kept, at, s.log); err != nil {
		return nil, fmt.Errorf("the embedded Temporal server cannot be built: %w", err)
	}
	if err := s.server.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("the embedded Temporal server did not start: %w", err), s.Stop())
	}
	if s.ui, err = startUI(ctx, at.ui, at.frontend, o.UIURLs, o.UIHosts); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Address is the host:port clients of the server dial.
func (s *Server) Address() string { return s.frontend.String() }

// UIAddress is the host:port of the web UI, without a scheme.
func (s *Server) UIAddress() string { return s.ui.at.String() }

// Namespace is the namespace every run belongs to.
func (s *Server) Namespace() string { return Namespace }

// Stop ends the web UI and the server, and waits at most ten seconds for both.
// Workers and clients of the server should be stopped before.
func (s *Server) Stop() error {
	s.log.silence()
	if s.ui != nil {
		s.ui.stop()
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.server.Stop() }()
	select {
	case err := <-stopped:
		return err
	case <-time.After(stopLimit):
		return fmt.Errorf("the embedded Temporal server did not stop within %s", stopLimit)
	}
}

// ready waits until the namespace can be described through the frontend and
// the UI serves its page.
func (s *Server) ready(ctx context.Context) error {
	c, err := client.DialContext(ctx, client.Options{
		HostPort: s.Address(), Namespace: Namespace, Logger: silentSDK{},
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: readyLimit},
	})
	if err != nil {
		return fmt.Errorf("the embedded Temporal server on %s does not answer: %w", s.Address(), err)
	}
	defer c.Close()
	if err := s.ui.ready(ctx); err != nil {
		return fmt.Errorf("the Temporal web UI on %s does not answer: %w", s.ui.at, err)
	}
	return nil
}

// makeDir makes the folder and proves that files can be made in it.
func makeDir(dir string) error {
	if dir == "" {
		return errors.New("the embedded Temporal server needs a folder for its files")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder %s of the embedded Temporal server cannot be made: %w", dir, reason(err))
	}
	probe, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return fmt.Errorf("the folder %s of the embedded Temporal server cannot be written to: %w", dir, reason(err))
	}
	return errors.Join(probe.Close(), os.Remove(filepath.Join(dir, filepath.Base(probe.Name()))))
}

// reason strips the operation and the path, which our sentences already name.
func reason(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
