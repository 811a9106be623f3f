package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// quietLogger hands the server's warnings and errors to slog and drops the
// rest: hundreds of lines a start that say nothing to a person who chats.
type quietLogger struct {
	out    *slog.Logger
	silent atomic.Bool
}

func newQuietLogger(out *slog.Logger) *quietLogger {
	if out == nil {
		out = slog.New(slog.DiscardHandler)
	}
	return &quietLogger{out: out.With("part", "temporal")}
}

// silence drops everything from now on: a server that is being stopped
// complains about each of its own connections.
func (l *quietLogger) silence() { l.silent.Store(true) }

func (l *quietLogger) Debug(string, ...tag.Tag) {}
func (l *quietLogger) Info(string, ...tag.Tag)  {}

func (l *quietLogger) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l *quietLogger) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l *quietLogger) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// Panic and Fatal may not return: the server relies on it to keep its data
// whole. They end the process as the server would by itself.
func (l *quietLogger) Panic(msg string, tags ...tag.Tag) { l.die(msg, tags) }
func (l *quietLogger) Fatal(msg string, tags ...tag.Tag) { l.die(msg, tags) }

func (l *quietLogger) die(msg string, tags []tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	panic(fmt.Sprintf("the embedded Temporal server cannot go on: %s %v", msg, attributes(tags)))
}

// wanted begins the server's warning that it has no HTTP port.
const wanted = "HTTP API port has not been set."

func (l *quietLogger) write(level slog.Level, msg string, tags []tag.Tag) {
	ctx := context.Background()
	if l.silent.Load() || !l.out.Enabled(ctx, level) || strings.HasPrefix(msg, wanted) {
		return
	}
	l.out.LogAttrs(ctx, level, msg, attributes(tags)...)
}

func attributes(tags []tag.Tag) []slog.Attr {
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	return attrs
}

// silentSDK mutes the client that only asks whether the server is up.
type silentSDK struct{}

func (silentSDK) Debug(string, ...any) {}
func (silentSDK) Info(string, ...any)  {}
func (silentSDK) Warn(string, ...any)  {}
func (silentSDK) Error(string, ...any) {}

var _ log.Logger = (*quietLogger)(nil)
