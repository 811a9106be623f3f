package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/capture/launch"
	"liminal/internal/capture/proxy"
	"liminal/internal/config"
)

const (
	// palaceProxyCommand is how `palace run` starts a proxy: in a process of its
	// own, which is no subcommand people type.
	palaceProxyCommand = "palace-proxy"
	// palaceIdle is how long such a proxy stays when the last command has ended.
	palaceIdle = 30 * time.Second
	// palaceGrace is how long a platform that ends waits for streams of agents.
	palaceGrace = 10 * time.Second
	baseURL     = "ANTHROPIC_BASE_URL"
)

func palaceCommand() command {
	return command{
		name:    "palace",
		takes:   "[VERB]",
		summary: "pass an agent's requests on to its model byte for byte, and keep every exchange",
		about: `
A proxy between an agent, such as Claude Code, and its backend. It changes
nothing unless a policy of yours says so: what the agent sends and what the model streams back pass byte for
byte as they come, and a copy of both is kept on this machine, without keys. It
needs no server, no database and no network but the backend's.

  run -- COMMAND     run a command behind the proxy: start one if none runs, give
                     the command its address and a token that ends with it, hand
                     on signals and end with its exit code. A proxy that is killed
                     meanwhile is started again
  (no verb)          the proxy alone, until it is stopped; for a user unit
  env NAME           print the environment of a client that is started otherwise,
                     with a token of that name that lasts; a new one replaces it
  revoke NAME        end that token
  status             what runs, what passed, and what could not be kept
  list               the exchanges that are kept, the newest last
  show ID            one of them: its head as JSON, or with --part request,
                     sent (what reached the backend) or response the bytes as they
                     were. The beginning or the end of an id does, if only one has it

Without --data or SHARED_FS_ROOT everything lies below ~/.liminal/palace, so that
agents of all projects share a proxy. It listens on PALACE_ADDR, which must be a
loopback address; whoever has no token gets nothing there, and neither does a
page in a browser. The backend is PALACE_UPSTREAM, and never what
ANTHROPIC_BASE_URL says: run refuses when that names another.

run also sets ENABLE_TOOL_SEARCH=true unless it is set: Claude Code turns that
off by itself behind any proxy. docs/palace.md tells what else it turns off.
Where your policy lets views set results aside, run gives claude the tools that
ask them back.`,
		examples: []string{
			"liminald palace run -- claude", "liminald palace run --name review -- claude -p 'Review the last commit'",
			"eval \"$(liminald palace env editor)\"", "liminald palace status", "liminald palace list --last 20", "liminald palace show 7f3a9c1e --part response",
		},
		settings: []string{"data", "palace-addr", "palace-upstream", "log-level"},
		defaults: []string{"SHARED_FS_ROOT=~/.liminal"},
		flags: func(fs *flag.FlagSet) any {
			o := &palaceOptions{}
			fs.BoolVar(&o.json, "json", false, "of status and list: print JSON for machines instead of text")
			fs.StringVar(&o.name, "name", "", "of run: what the agent is called; default the command's name")
			fs.StringVar(&o.part, "part", "", "of show: request, sent or response, as bytes")
			fs.IntVar(&o.last, "last", 50, "of list: how many, 0 for all")
			return o
		},
		run: runPalace,
	}
}

type palaceOptions struct {
	json       bool
	name, part string
	last       int
}

// palace is one call of the command.
type palace struct {
	*invocation
	*palaceOptions
	conf config.Config
	dir  string
}

func runPalace(ctx context.Context, in *invocation) error {
	verbs := map[string]struct {
		do          func(*palace, context.Context) error
		least, most int // arguments
		needs       string
	}{
		"":       {(*palace).serve, 0, 0, ""},
		"run":    {(*palace).runCommand, 1, 1 << 20, "a command, as in: liminald palace run -- claude"},
		"env":    {(*palace).env, 1, 1, "a name: which client the token is for"},
		"revoke": {(*palace).revoke, 1, 1, "the name of a token"},
		"status": {(*palace).status, 0, 0, ""},
		"list":   {(*palace).list, 0, 0, ""},
		"show":   {(*palace).show, 1, 1, "the id of an exchange; liminald palace list has them"},
	}
	name := ""
	if len(in.args) > 0 {
		name, in.args = in.args[0], in.args[1:]
	}
	verb, ok := verbs[name]
	switch {
	case !ok:
		return usageError{fmt.Errorf("there is no verb %q; to run a command: liminald palace run -- %s", name, name)}
	case len(in.args) < verb.least:
		return usageError{fmt.Errorf("%s needs %s", name, verb.needs)}
	case len(in.args) > verb.most:
		return usageError{fmt.Errorf("%q is one argument too many", in.args[verb.most])}
	}
	p, err := newPalace(in)
	if err != nil {
		return err
	}
	return verb.do(p, ctx)
}

func newPalace(in *invocation) (*palace, error) {
	home := lookUp(in.environ, "HOME")
	in.preset = slices.Clone(in.preset)
	for i, text := range in.preset {
		in.preset[i] = strings.Replace(text, "=~/", "="+home+"/", 1)
	}
	conf, err := in.config()
	if err != nil {
		return nil, err
	}
	if conf.Palace.Address == "" {
		return nil, usageError{errors.New("PALACE_ADDR=off is for liminald dev; the proxy needs an address on loopback, as 127.0.0.1:19848 is")}
	}
	o, _ := in.own.(*palaceOptions)
	return &palace{in, o, conf, conf.PalaceDir()}, nil
}

// lookUp is a variable of an environment, "" where it is not set.
func lookUp(environ []string, name string) (value string) {
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// options are those of a proxy of these settings.
func (p *palace) options() proxy.Options { return proxyOptions(p.conf, p.logger(p.conf.Log)) }

func proxyOptions(c config.Config, log *slog.Logger) proxy.Options {
	return proxy.Options{
		Dir: c.PalaceDir(), Address: c.Palace.Address, Upstream: c.Palace.Upstream,
		Memory: int64(c.Palace.Memory), Disk: int64(c.Palace.Disk), Version: buildVersion(), Log: log,
	}
}

// servePalace serves the capture proxy in this process, and says where, or why not.
// A port or a folder that another has is no reason for the platform not to run: what
// that proxy keeps in this folder is taken in all the same.
func (s *serving) servePalace(c config.Config, log *slog.Logger) (at, why string) {
	if c.Palace.Address == "" {
		return "", "off (PALACE_ADDR)"
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o := proxyOptions(c, log)
	o.Ready = func(address string) error { ready <- address; return nil }
	go func() { ended <- proxy.Serve(ctx, o) }()
	select {
	case address := <-ready:
		s.onClose("the capture proxy", func(limit context.Context) error {
			cancel()
			limit, done := context.WithTimeout(limit, palaceGrace)
			defer done()
			select {
			case err := <-ended:
				return err
			case <-limit.Done():
				return errors.New("streams of agents were cut; a command that runs behind the proxy starts it anew")
			}
		})
		return "http://" + address, ""
	case err := <-ended:
		cancel()
		log.Info("the capture proxy is not served here", "error", err)
		return "", "not served here: " + err.Error()
	}
}

func (p *palace) serve(ctx context.Context) error {
	o := p.options()
	o.Ready = func(address string) error {
		_, err := fmt.Fprintf(p.err, "The palace proxy listens on http://%s and passes requests on to %s; what passes is kept in %s.\nRun an agent behind it:  liminald palace run -- claude\nor give a client its address:  eval \"$(liminald palace env NAME)\"\n", address, o.Upstream, proxy.SpoolDir(p.dir))
		return err
	}
	return proxy.Serve(ctx, o)
}

// becomePalace is the proxy that a command started.
func becomePalace(ctx context.Context, t terminal) int {
	c := palaceCommand()
	p, err := newPalace(&invocation{terminal: t, preset: c.defaults})
	if err == nil {
		o := p.options()
		o.Idle = palaceIdle
		err = proxy.Serve(ctx, o)
	}
	return c.fail(t, err)
}

// handedOn is what a proxy that we start gets of our environment: no key of
// anybody is among it.
var handedOn = []string{
	"HOME", "PATH", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "GOMEMLIMIT", "GOGC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "PALACE_MEMORY", "PALACE_DISK", "LIMINAL_LOG_FORMAT",
}

// proxyCommand prepares a proxy in a process of its own.
func (p *palace) proxyCommand(self string) func(address string) *exec.Cmd {
	return func(address string) *exec.Cmd {
		if address == "" {
			address = p.conf.Palace.Address
		}
		cmd := exec.Command(self, palaceProxyCommand)
		cmd.Dir = string(filepath.Separator)
		cmd.Env = []string{"SHARED_FS_ROOT=" + p.conf.Data, "PALACE_ADDR=" + address, "PALACE_UPSTREAM=" + p.conf.Palace.Upstream, "LIMINAL_LOG_LEVEL=" + p.conf.Log.Level}
		for _, name := range handedOn {
			if v := lookUp(p.environ, name); v != "" {
				cmd.Env = append(cmd.Env, name+"="+v)
			}
		}
		return cmd
	}
}

func (p *palace) runCommand(ctx context.Context) error {
	path, err := exec.LookPath(p.args[0])
	if err != nil {
		return fmt.Errorf("the command %s cannot be found", p.args[0])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	agent := proxy.Agent{Name: p.name}
	if agent.Name == "" {
		agent.Name = filepath.Base(path)
	}
	if dir, err := os.Getwd(); err == nil {
		agent.Project = filepath.Base(dir)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token := proxy.NewToken()
	held, err := launch.Hold(ctx, launch.Options{Dir: p.dir, Token: token, Agent: agent, Command: p.proxyCommand(self)})
	if err != nil {
		return err
	}
	if held.Upstream != p.conf.Palace.Upstream {
		return usageError{fmt.Errorf("the proxy that runs passes requests on to %s, not to %s as PALACE_UPSTREAM says; stop it first (liminald palace status has its process)", held.Upstream, p.conf.Palace.Upstream)}
	}
	cmd := exec.Command(path, p.withRecall(path, p.args[1:])...)
	cmd.Args[0] = p.args[0]
	if cmd.Env, err = p.environmentOf(held.Address, token); err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.in, p.out, p.err
	code, err := launch.Run(cmd)
	if err != nil {
		return err
	}
	if code != exitOK {
		return shownError{code}
	}
	return nil
}

// recallConfig has Claude Code reach the tools that give back what a view set aside. The
// address with the token is in its environment already, and nobody sees it in a list of
// processes.
const recallConfig = `{"mcpServers":{"palace":{"type":"http","url":"${` + baseURL + `}/mcp"}}}`

// recallAllowed are those tools: they return what the agent has read before.
const recallAllowed = "mcp__palace__recall,mcp__palace__search,mcp__palace__keep"

// withRecall are the arguments of a command, with those tools where the policy lets views
// set something aside, and the command is a conversation of Claude Code.
func (p *palace) withRecall(path string, args []string) []string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	manages := len(args) > 0 && slices.Contains([]string{"agents", "auth", "config", "doctor", "install", "mcp", "plugin", "plugins", "setup-token", "update", "upgrade"}, args[0])
	if name != "claude" || manages || !proxy.Views(p.dir) {
		return args
	}
	return append([]string{"--mcp-config=" + recallConfig, "--allowedTools=" + recallAllowed}, args...)
}

// environmentOf is that of a command behind a proxy.
func (p *palace) environmentOf(address, token string) ([]string, error) {
	if set := strings.TrimRight(lookUp(p.environ, baseURL), "/"); set != "" && set != p.conf.Palace.Upstream && !strings.HasPrefix(set, proxy.BaseURL(address, "")) {
		return nil, usageError{fmt.Errorf("%s names %s, and the proxy passes requests on to %s, with the key that is meant for the other; set PALACE_UPSTREAM to it, or unset it", baseURL, set, p.conf.Palace.Upstream)}
	}
	env := slices.DeleteFunc(slices.Clone(p.environ), func(entry string) bool { return strings.HasPrefix(entry, baseURL+"=") })
	env = append(env, baseURL+"="+proxy.BaseURL(address, token))
	if lookUp(env, "ENABLE_TOOL_SEARCH") == "" {
		env = append(env, "ENABLE_TOOL_SEARCH=true")
	}
	// A proxy on the way to the world is none on the way to us.
	for _, names := range [][2]string{{"HTTP_PROXY", "NO_PROXY"}, {"http_proxy", "no_proxy"}} {
		if lookUp(env, names[0]) == "" {
			continue
		}
		direct := "127.0.0.1,localhost"
		if set := lookUp(env, names[1]); set != "" {
			direct = set + "," + direct
		}
		env = append(env, names[1]+"="+direct)
	}
	return env, nil
}

// supervises reports whether a command line runs another program, which gets the
// signals of ours and decides what they mean.
func supervises(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return len(args) > 1 && args[0] == "palace" && slices.Contains(args, "run")
}

func (p *palace) env(ctx context.Context) error {
	address := p.conf.Palace.Address
	s, err := proxy.Ask(ctx, p.dir)
	switch {
	case err == nil:
		address = s.Address
	case !errors.Is(err, proxy.ErrNone):
		return err
	case strings.HasSuffix(address, ":0"):
		return usageError{fmt.Errorf("PALACE_ADDR=%s is whichever port was free; name one, or start the proxy first", address)}
	default:
		fmt.Fprintf(p.err, "No proxy runs yet: liminald palace starts it on %s.\n", address)
	}
	token, err := proxy.AddToken(p.dir, proxy.Agent{Name: p.args[0]})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "The token of %s lasts until liminald palace revoke %s; it is not shown again.\n", p.args[0], p.args[0])
	_, err = fmt.Fprintf(p.out, "export %s=%s\nexport ENABLE_TOOL_SEARCH=true\n", baseURL, proxy.BaseURL(address, token))
	return err
}

func (p *palace) revoke(context.Context) error { return proxy.RemoveToken(p.dir, p.args[0]) }
