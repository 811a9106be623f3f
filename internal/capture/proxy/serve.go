package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"liminal/internal/capture"
	"liminal/internal/filelock"
	"liminal/internal/vault"
)

const (
	// headLimit is how long a client may take to send the head of a request.
	headLimit = 10 * time.Second
	// flushLimit is how long the spool has to write what it holds at the end.
	flushLimit = 5 * time.Second
	// lockLimit is how long a proxy that a command started waits for the one
	// before it to let go of the folder, and lockTry how often it looks.
	lockLimit = 5 * time.Second
	lockTry   = 10 * time.Millisecond
)

// Options say what a proxy serves.
type Options struct {
	// Dir is the palace folder: tokens, socket and spool are in it.
	Dir string
	// Address is the host:port of the listener, on a loopback address.
	Address string
	// Upstream is the backend, whose own address must be another.
	Upstream string
	// OpenAI is that of requests below OpenAIPath; "": they have none of their own.
	OpenAI string
	// Memory and Disk bound the spool, in bytes.
	Memory, Disk int64
	// Keys seal what is kept; nil: it is plain.
	Keys *vault.Ring
	// Idle, unless 0, ends the proxy when no command has held it for so long and
	// nothing passes: it was started by one.
	Idle    time.Duration
	Version string
	Log     *slog.Logger
	// Ready is told where it listens, once it does; nil: nobody is.
	Ready func(address string) error
}

// Serve runs a proxy until ctx ends. Then it takes no more requests, and waits for
// those that are under way however long they take: who cannot wait kills it.
func Serve(ctx context.Context, o Options) (err error) {
	upstream, err := url.Parse(o.Upstream)
	if err != nil {
		return err
	}
	var openAI *url.URL
	if o.OpenAI != "" {
		if openAI, err = url.Parse(o.OpenAI); err != nil {
			return err
		}
	}
	if err := makeFolder(o.Dir); err != nil {
		return err
	}
	free, err := lock(ctx, o)
	if err != nil {
		return err
	}
	defer free()
	listener, err := listen(ctx, o.Address)
	if err != nil {
		return err
	}
	spool, err := capture.Open(capture.Options{Dir: SpoolDir(o.Dir), Memory: o.Memory, Disk: o.Disk, Keys: o.Keys, Log: o.Log})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tokens := NewTokens(o.Dir)
	tokens.settle()
	c := &control{
		proxy: New(upstream, spool, tokens, o.Log), tokens: tokens, spool: spool, options: o, started: time.Now(),
		address: listener.Addr().String(), ending: ctx.Done(), leases: map[*lease]bool{},
	}
	socket, err := listenControl(ctx, o.Dir)
	if err == nil {
		tokens.operator, err = operatorToken(o.Dir)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	c.proxy.own, c.proxy.openAI = c.own(), openAI
	c.proxy.View(o.Dir, o.Keys)
	quiet := slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)
	public := &http.Server{Handler: c.proxy, ReadHeaderTimeout: headLimit, ErrorLog: quiet}
	private := &http.Server{Handler: c.routes(), ReadHeaderTimeout: headLimit, ErrorLog: quiet}
	failed := make(chan error, 2)
	go func() { failed <- public.Serve(listener) }()
	go func() { failed <- private.Serve(socket) }()
	if o.Idle > 0 {
		go c.endWhenIdle(o.Idle, stop)
	}
	if o.Ready != nil {
		err = o.Ready(c.address)
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	stop()
	// The port and the folder are free at once, for whoever comes next; what is
	// under way is finished first, however long it takes.
	ended := context.WithoutCancel(ctx)
	err = errors.Join(err, private.Shutdown(ended))
	_ = socket.Close() // a server that had not begun yet does not know it
	public.RegisterOnShutdown(func() {
		_ = listener.Close() // as above
		free()
	})
	err = errors.Join(err, public.Shutdown(ended))
	flush, cancel := context.WithTimeout(ended, flushLimit)
	defer cancel()
	return errors.Join(err, spool.Close(flush))
}

// SpoolDir is where exchanges lie below a palace folder.
func SpoolDir(dir string) string { return filepath.Join(dir, "spool") }

// makeFolder makes a palace folder, which only its owner may enter.
func makeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", dir, err)
	}
	return nil
}

// errTaken says that another proxy has the folder.
var errTaken = errors.New("another proxy runs on this folder")

// lock makes this the only proxy on a folder, until free is called.
func lock(ctx context.Context, o Options) (free func(), err error) {
	f, err := os.OpenFile(filepath.Join(o.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(lockLimit)
	for {
		err = filelock.Try(f)
		if !errors.Is(err, filelock.ErrTaken) || o.Idle == 0 || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(lockTry):
		}
	}
	if errors.Is(err, filelock.ErrTaken) {
		err = fmt.Errorf("%w (%s); liminald palace status tells of it", errTaken, o.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return sync.OnceFunc(func() { _ = f.Close() }), nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by a program that is no proxy of this data folder; stop it, or choose another address with PALACE_ADDR", address)
	}
	return l, err
}
