package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/net/dns/dnsmessage"
)

// A network of our own, in which addresses of the internet are ours: what the
// tool that reads pages does with live redirects, and with names that change
// what they mean, cannot be seen where no page may be read.

const (
	public = "93.184.216.34"
	meta   = "169.254.169.254"
	dns    = "127.0.0.53"
)

// report is what the process inside tells the one outside.
type report struct {
	Holes, Figures []string
	Broken         string
}

// fetchLive carries the attack out in namespaces of its own.
func fetchLive(t *trial) {
	file := filepath.Join(t.house.dir, "inside.json")
	cmd := exec.CommandContext(t.ctx, "/proc/self/exe", "--inside", file, "--program", t.house.program) //nolint:gosec // ourselves
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		t.figure("NOT TRIED: this machine gives no network of its own: %v", err)
		return
	}
	raw, missing := os.ReadFile(file)
	if missing != nil {
		t.must(fmt.Errorf("inside: %w: %.300s", errors.Join(err, missing), out))
	}
	var r report
	t.must(json.Unmarshal(raw, &r))
	t.holes, t.figures = append(t.holes, r.Holes...), append(t.figures, r.Figures...)
	if strings.HasPrefix(r.Broken, "namespace: ") {
		t.figure("NOT TRIED: %s", r.Broken)
	} else if r.Broken != "" {
		t.must(errors.New(r.Broken))
	}
}

// inside is the attack in the network of its own.
func inside(ctx context.Context, file, program string) int {
	r := report{}
	if err := furnish(filepath.Dir(file)); err != nil {
		r.Broken = "namespace: " + err.Error()
	} else {
		r = besiege(ctx, program)
	}
	raw, _ := json.Marshal(r) // of strings
	if os.WriteFile(file, raw, 0o600) != nil {
		return 2
	}
	return 0
}

func besiege(ctx context.Context, program string) (r report) {
	w := &web{asked: map[string]int{}}
	stop, err := w.serve(ctx)
	if err != nil {
		return report{Broken: "namespace: " + err.Error()}
	}
	defer stop()
	h, err := newHouse(ctx, onEmbedded, program)
	if err != nil {
		return report{Broken: err.Error()}
	}
	defer h.close(false)
	t := &trial{ctx: ctx, house: h, name: "inside"}
	t.carryOut(attack{name: "inside", run: func(t *trial) { liveFetches(t, w) }})
	r.Holes, r.Figures = t.holes, t.figures
	if t.broken != nil {
		r.Broken = t.broken.Error()
	}
	return r
}

// furnish gives loopback addresses of the internet, and names a server of ours.
func furnish(dir string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	conf := filepath.Join(dir, "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver "+dns+"\noptions timeout:1 attempts:1\n"), 0o600); err != nil {
		return err
	}
	if err := syscall.Mount(conf, "/etc/resolv.conf", "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := flags(fd, "lo", syscall.IFF_UP|syscall.IFF_RUNNING|syscall.IFF_LOOPBACK); err != nil {
		return err
	}
	for i, address := range []string{public, meta} {
		if err := assign(fd, fmt.Sprintf("lo:%d", i+1), netip.MustParseAddr(address)); err != nil {
			return err
		}
	}
	return nil
}

// ifreq is the kernel's struct of that name.
type ifreq struct {
	name [16]byte
	data [24]byte
}

func ioctl(fd int, request uintptr, r *ifreq) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(r))); errno != 0 { //nolint:gosec // how the kernel is asked
		return errno
	}
	return nil
}

func flags(fd int, name string, set uint16) error {
	r := ifreq{}
	copy(r.name[:], name)
	r.data[0], r.data[1] = byte(set), byte(set>>8) // little-endian, as all machines we build for
	return ioctl(fd, syscall.SIOCSIFFLAGS, &r)
}

func assign(fd int, name string, address netip.Addr) error {
	r := ifreq{}
	copy(r.name[:], name)
	r.data[0] = syscall.AF_INET // of a sockaddr_in: family, port, address
	ip := address.As4()
	copy(r.data[4:8], ip[:])
	return ioctl(fd, syscall.SIOCSIFADDR, &r)
}

// web is the internet inside: a page that redirects, servers that nobody may
// reach, and the meaning of names.
type web struct {
	reached atomic.Int32 // what nobody may reach
	pages   atomic.Int32 // the page itself
	mu      sync.Mutex
	asked   map[string]int
}

func (w *web) serve(ctx context.Context) (stop func(), err error) {
	var servers []*http.Server
	var listener net.ListenConfig
	on := func(at string, h http.HandlerFunc) {
		l, e := listener.Listen(ctx, "tcp", at)
		if err = errors.Join(err, e); e != nil {
			return
		}
		s := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
		servers = append(servers, s)
		go func() { _ = s.Serve(l) }() // it ends with its listener
	}
	on(public+":80", w.page)
	closed := func(rw http.ResponseWriter, _ *http.Request) {
		w.reached.Add(1)
		_, _ = rw.Write([]byte(secret)) // whoever asks may leave
	}
	for _, at := range []string{"127.0.0.1:80", "[::1]:80", meta + ":80", "127.0.0.1:8443", public + ":22"} {
		on(at, closed)
	}
	names, e := listener.ListenPacket(ctx, "udp", dns+":53")
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	go w.names(names)
	return func() {
		for _, s := range servers {
			_ = s.Close()
		}
		_ = names.Close()
	}, nil
}

func (w *web) page(rw http.ResponseWriter, r *http.Request) {
	w.pages.Add(1)
	if to := r.URL.Query().Get("to"); to != "" {
		rw.Header().Set("Location", to)
		rw.Header().Set("Refresh", "0; url="+to)
		rw.WriteHeader(http.StatusFound)
		return
	}
	rw.Header().Set("Content-Type", "text/html")
	_, _ = rw.Write([]byte(`<html><head><meta http-equiv="refresh" content="0; url=http://127.0.0.1/"><base href="http://127.0.0.1/"></head><body><main><p>A public page about gardens.</p><img src="http://127.0.0.1/x.png"></main></body></html>`))
}

// meanings are the addresses of names, by the order of their look-ups.
var meanings = map[string][][]string{
	"public.test": {{public}}, "inner.test": {{"127.0.0.1"}}, "meta.test": {{meta}}, "both.test": {{public, "127.0.0.1"}}, "turned.test": {{"127.0.0.1", public}},
	"rebind.test": {{public}, {"127.0.0.1"}}, "again.test": {{public}, {public}, {"127.0.0.1"}}, "six.test": {{"::1"}}, "mapped.test": {{"::ffff:127.0.0.1"}}, "zero.test": {{"0.0.0.0"}},
}

func (w *web) names(conn net.PacketConn) {
	room := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(room)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(room[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.Additionals = true, nil
		for _, text := range w.meaning(strings.TrimSuffix(q.Name.String(), "."), q.Type) {
			a := netip.MustParseAddr(text)
			head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(out, from) // lost: it is asked again
		}
	}
}

// meaning is what a name means this time. A and AAAA are one look-up: A counts.
func (w *web) meaning(name string, kind dnsmessage.Type) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := meanings[name]
	if len(list) == 0 {
		return nil
	}
	at := min(w.asked[name], len(list)-1)
	if kind == dnsmessage.TypeA {
		w.asked[name]++
	}
	return list[at]
}

func liveFetches(t *trial, w *web) {
	mallory := t.signUp("mallory")
	read := func(address string) answer {
		return mallory.within(20*time.Second, "POST", "/v1/tools/run", object{"tool_id": "web.fetch_v1", "input": object{"url": address}})
	}
	if a := read("http://public.test/"); !a.ok() || !strings.Contains(string(a.raw), "gardens") {
		t.must(fmt.Errorf("a public page is not read: %s", a))
	}
	if a := read("http://public.test/?to=http%3A%2F%2Fpublic.test%2Fnext"); !a.ok() {
		t.must(fmt.Errorf("a redirect to a public page is not followed: %s", a))
	}
	var addresses []string
	for _, to := range []string{
		"http://127.0.0.1/", "http://127.0.0.1:8443/", "http://" + meta + "/latest/meta-data", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://2130706433/", "http://0177.0.0.1/",
		"http://017700000001/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/", "http://0/", "http://0.0.0.0/", "http://localhost/", "http://LOCALHOST./", "//127.0.0.1/", "http:\\\\127.0.0.1/",
		"http://user:pass@127.0.0.1/", "http://public.test@127.0.0.1/", "http://127.0.0.1%23@public.test/", "http://public.test:22/", "file:///etc/passwd", "gopher://127.0.0.1:80/_GET", "http://１２７.０.０.１/",
		"http://inner.test/", "http://meta.test/", "http://rebind.test/", "http://again.test/", "http://both.test/", "http://turned.test/", "http://six.test/", "http://mapped.test/", "http://zero.test/",
	} {
		addresses = append(addresses, "http://public.test/?to="+strings.NewReplacer("%", "%25", "#", "%23", "&", "%26", "\\", "%5C", "@", "%40").Replace(to))
	}
	for name := range meanings {
		for range choose(t, 2, 3) {
			addresses = append(addresses, "http://"+name+"/")
		}
	}
	chain := "http://127.0.0.1/"
	for range 8 {
		chain = "http://public.test/?to=" + strings.NewReplacer("%", "%25", ":", "%3A", "/", "%2F", "?", "%3F", "=", "%3D").Replace(chain)
	}
	for _, address := range append(addresses, chain) {
		before := w.reached.Load()
		a := read(address)
		if strings.Contains(string(a.raw), secret) || strings.Contains(string(a.raw), "root:x:0") || w.reached.Load() > before {
			t.hole("%s reached the inside: %s", address, a)
		}
		if a.err != nil {
			t.hole("%s: %s", address, a)
		}
	}
	t.figure("%d addresses, %d pages read, %d servers of the inside reached", len(addresses)+1, w.pages.Load(), w.reached.Load())
}
