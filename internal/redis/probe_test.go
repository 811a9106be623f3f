package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestProbeReadsTheVersionOfAServerThatAnswers(t *testing.T) {
	t.Parallel()
	r, err := Probe(t.Context(), "redis://"+serve(t, "# Server\r\nredis_version:7.2.4\r\n")+"?read_timeout=30s")
	if err != nil || r.Server != "7.2.4" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestProbeSaysInOneSentenceWhatIsWrongWithoutThePassword(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // a port nobody listens on
	for _, url := range []string{"redis://:hunter2@" + l.Addr().String(), "redis://:hunter2@h:nan"} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := Probe(ctx, url)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// serve answers the few commands a probe sends.
func serve(t *testing.T, info string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn, info)
		}
	}()
	return l.Addr().String()
}

func answer(conn net.Conn, info string) {
	defer conn.Close()
	for s := bufio.NewScanner(conn); s.Scan(); {
		switch strings.ToUpper(s.Text()) {
		case "HELLO", "CLIENT":
			fmt.Fprint(conn, "-ERR unknown command\r\n")
		case "PING":
			fmt.Fprint(conn, "+PONG\r\n")
		case "INFO":
			fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(info), info)
		}
	}
}
