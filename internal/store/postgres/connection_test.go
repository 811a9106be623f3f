package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
)

const insertSecret = `INSERT INTO secret (name, value) VALUES (@name, @value)`

func secretNamed(name string) store.Args { return store.Args{"name": name, "value": []byte{1}} }

func one[T any](tx store.Tx, query string, args store.Args) (value T, err error) {
	err = tx.Query(query, args, func(scan store.Scan) error { return scan(&value) })
	return value, err
}

// terminate ends every connection of the program, or one.
func terminate(t *testing.T, d postgrestest.Database) {
	t.Helper()
	postgrestest.Exec(t, d.Super, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'lane_app'`)
}

func TestTransactionsAreRunAgainWhenTheirConnectionsAreLost(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	db := postgrestest.Open(t, d.App, postgres.Options{})
	tries := 0
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		if _, err := tx.Exec(insertSecret, secretNamed("s")); err != nil {
			return err
		}
		if tries++; tries == 1 {
			terminate(t, d)
		}
		_, err := tx.Exec(`UPDATE secret SET value = @value WHERE name = @name`, secretNamed("s"))
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("%d tries, %v", tries, err)
	}
	terminate(t, d) // while nothing is under way
	var n int64
	err = db.Read(t.Context(), identity.System(), func(tx store.Tx) (err error) {
		n, err = one[int64](tx, `SELECT count(*) FROM secret`, nil)
		return err
	})
	if err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestTransactionsThatLostToOthersAreRunAgain(t *testing.T) {
	t.Parallel()
	db := postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{})
	var both, all sync.WaitGroup
	both.Add(2)
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			met := sync.OnceFunc(func() { both.Done(); both.Wait() })
			err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
				if err := tx.Lock(order[0]); err != nil {
					return err
				}
				met() // each holds one and wants the other's
				return tx.Lock(order[1])
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// proxy stands between the program and the server.
type proxy struct {
	address, server string
	cutAt           string // a message of the program's that is not passed on; the connection ends instead

	mu     sync.Mutex
	listen net.Listener
	conns  []net.Conn
	away   bool
	frozen bool // what arrives is kept, and nothing is answered
}

func newProxy(t *testing.T, to, cutAt string) (p *proxy, through string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{server: u.Host, address: ownAddress(), cutAt: cutAt}
	p.up(t)
	t.Cleanup(p.down)
	u.Host = p.address
	return p, u.String()
}

func (p *proxy) up(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listen, p.away = l, false
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
}

// down refuses connections and ends those there are.
func (p *proxy) down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listen.Close()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns, p.away = nil, true
}

func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
}

func (p *proxy) isFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

func (p *proxy) serve(c net.Conn) {
	s, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	away := p.away
	p.conns = append(p.conns, c, s)
	p.mu.Unlock()
	if away { // it came while the server went
		_ = errors.Join(c.Close(), s.Close())
		return
	}
	go func() { _ = p.pass(c, s, "") }()
	_ = p.pass(s, c, p.cutAt)
}

func (p *proxy) pass(to, from net.Conn, cutAt string) error {
	defer func() { _ = errors.Join(to.Close(), from.Close()) }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil || cutAt != "" && strings.Contains(string(b[:n]), cutAt) {
			return err
		}
		if p.isFrozen() {
			continue
		}
		if _, err := to.Write(b[:n]); err != nil {
			return err
		}
	}
}

func TestARestartOfTheServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	p, through := newProxy(t, postgrestest.New(t).App, "")
	db := postgrestest.Open(t, through, postgres.Options{})
	p.down()
	back := time.AfterFunc(300*time.Millisecond, func() { p.up(t) })
	defer back.Stop()
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		_, err := tx.Exec(insertSecret, secretNamed("s"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	p.down()
	impatient, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := db.Read(impatient, identity.System(), func(store.Tx) error { return nil }); err == nil {
		t.Error("a read went well without a server")
	}
}

func TestACommitWhoseAnswerWasLostIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, through := newProxy(t, postgrestest.New(t).App, "COMMIT\x00")
	db := postgrestest.Open(t, through, postgres.Options{})
	tries := 0
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		tries++
		_, err := tx.Exec(insertSecret, secretNamed("s"))
		return err
	})
	if fault.CodeOf(err) != fault.Internal || !strings.Contains(err.Error(), "not known") || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func TestACancelledStatementLeavesItsConnectionInThePool(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	db, watch := postgrestest.Open(t, d.App, postgres.Options{Connections: 1}), connect(t, d.Super)
	backend := func() (pid int64) {
		t.Helper()
		err := db.Read(t.Context(), identity.System(), func(tx store.Tx) (err error) {
			pid, err = one[int64](tx, `SELECT pg_backend_pid()`, nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	for range 3 { // a server that is not heard for a second after the cancel loses it
		before := backend()
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() {
			defer cancel()
			if err := session(t.Context(), watch, "wait_event = 'PgSleep'"); err != nil {
				t.Error(err)
			}
		})
		err := db.Write(ctx, identity.System(), func(tx store.Tx) error {
			_, err := tx.Exec(`SELECT pg_sleep(50)`, nil)
			return err
		})
		watching.Wait()
		if err == nil || ctx.Err() == nil {
			t.Errorf("the sleep ended with %v", err)
		}
		if backend() == before {
			return
		}
	}
	t.Error("the connection was replaced each time")
}

func TestAnIdThatIsNoneIsNobodys(t *testing.T) {
	t.Parallel()
	s := store.New(postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{}), store.Options{})
	v := identity.Viewer{UserID: id.New()}
	if _, err := s.Conversation(t.Context(), v, "no-id"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := s.Conversation(t.Context(), identity.Viewer{UserID: "' OR true; --"}, id.New()); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("got %v", err)
	}
}
