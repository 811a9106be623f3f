package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"liminal/internal/config"
	"liminal/internal/remote"
)

func loginCommand() command {
	return command{
		name:    "login",
		takes:   "[EMAIL]",
		summary: "sign in to a running server, once, for the commands that talk to it",
		about: `
Signs in to a server and keeps the session for the commands that talk to one,
until liminald logout or a week without use (the server says how long). The
server is --url, or LIMINAL_URL. EMAIL may be LIMINAL_USER; the password is
LIMINAL_PASSWORD, or is asked for, or is the first line of the input where
that is no terminal. An account with a second factor is asked for its code.

The session is kept in liminal/sessions.json of your configuration folder
(~/.config on Linux), which only you can read. LIMINAL_TOKEN, where it is set,
is used instead. LIMINAL_USER with LIMINAL_PASSWORD need no login: the first
command signs in by them and keeps that session likewise.`,
		examples: []string{
			"liminald login me@example.org --url https://chat.example.org",
			"pass show liminal | liminald login me@example.org",
		},
		settings: []string{"url"},
		flags:    loginFlags,
		run:      runLogin,
	}
}

type loginOptions struct{ code, recovery string }

func loginFlags(fs *flag.FlagSet) any {
	o := &loginOptions{}
	fs.StringVar(&o.code, "code", "", "six digits of the authenticator, for an account that has one; asked for when needed")
	fs.StringVar(&o.recovery, "recovery-code", "", "a recovery code instead")
	return o
}

func runLogin(ctx context.Context, in *invocation) error {
	if len(in.args) > 1 {
		return usageError{fmt.Errorf("one person signs in; %q is another", in.args[1])}
	}
	conf, err := in.config()
	if err != nil {
		return err
	}
	kept, err := keptSessions()
	if err != nil {
		return err
	}
	o := in.own.(*loginOptions)
	t := remote.Try{User: conf.Client.User, Code: o.code, Recovery: o.recovery}
	if len(in.args) == 1 {
		t.User = in.args[0]
	}
	ask := &asker{in: in.in, say: in.err}
	if t.User == "" {
		t.User = ask.line("E-mail")
	}
	if conf.Client.User == "" || t.User == conf.Client.User {
		t.Password = conf.Client.Password
	}
	if t.Password == "" {
		t.Password = ask.secret("Password of " + t.User)
	}
	if t.User == "" || t.Password == "" {
		return usageError{cmp.Or(ask.err, errors.New("an e-mail address and a password are needed to sign in"))}
	}
	session, err := remote.LogIn(ctx, conf.Client.URL, t)
	if remote.FactorNeeded(err) && ask.terminal() {
		t.Code = ask.line("Code of the authenticator")
		session, err = remote.LogIn(ctx, conf.Client.URL, t)
	}
	if remote.FactorNeeded(err) {
		return fmt.Errorf("%w Give it with --code", err)
	}
	if err != nil {
		return reached(err)
	}
	if err := kept.Keep(conf.Client.URL, session); err != nil {
		return err
	}
	_, err = fmt.Fprintf(in.out, "signed in to %s as %s\nkept in %s; it ends on %s unless it is used, or with liminald logout\n",
		conf.Client.URL, session.User, kept.File, session.Expires.Local().Format("2006-01-02"))
	if err == nil && conf.Client.Token != "" {
		_, err = fmt.Fprintln(in.err, "LIMINAL_TOKEN is set: it is used instead until you unset it")
	}
	return err
}

func logoutCommand() command {
	return command{
		name:    "logout",
		summary: "end the session that login keeps",
		about: `
Ends the sessions that are kept for a server (--url, or LIMINAL_URL), there and
here: those of login, and those that LIMINAL_USER and LIMINAL_PASSWORD made.`,
		examples: []string{"liminald logout --url https://chat.example.org"},
		settings: []string{"url"},
		run:      runLogout,
	}
}

func runLogout(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	kept, err := keptSessions()
	if err != nil {
		return err
	}
	forgotten, err := kept.Forget(conf.Client.URL)
	if err != nil {
		return err
	}
	if len(forgotten) == 0 {
		_, err := fmt.Fprintf(in.out, "nobody was signed in to %s\n", conf.Client.URL)
		return err
	}
	for _, session := range forgotten {
		if err := remote.LogOut(ctx, conf.Client.URL, session); err != nil {
			return reached(fmt.Errorf("the session of %s is forgotten here, and goes on there until %s: %w",
				session.User, session.Expires.Local().Format("2006-01-02"), err))
		}
		if _, err := fmt.Fprintf(in.out, "signed out of %s as %s\n", conf.Client.URL, session.User); err != nil {
			return err
		}
	}
	return nil
}

// keptSessions are those of the person who runs the program.
func keptSessions() (remote.Sessions, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return remote.Sessions{}, fmt.Errorf("there is no folder to keep a session in: %w; set LIMINAL_TOKEN instead", err)
	}
	return remote.Sessions{File: filepath.Join(dir, "liminal", "sessions.json")}, nil
}

// accountOf is who the settings and the kept sessions say somebody is. Where
// no session can be kept, each call signs in for itself.
func (in *invocation) accountOf(c config.Client) remote.Account {
	kept, _ := keptSessions() // without a folder none is kept, and none is there
	return remote.Account{
		Token: c.Token, User: c.User, Password: c.Password, Kept: kept,
		Unkept: func(err error) {
			fmt.Fprintf(in.err, "%s; the next call signs in again, and a server takes only a few in some minutes\n", sentence(err))
		},
	}
}

// asker asks whoever is at the terminal, or reads lines where there is none.
type asker struct {
	in    io.Reader
	say   io.Writer
	lines *bufio.Reader
	err   error
}

func (a *asker) terminal() bool {
	f, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// line reads one line, empty where there is none.
func (a *asker) line(what string) string {
	if a.in == nil {
		return ""
	}
	if a.terminal() {
		fmt.Fprint(a.say, what+": ")
	}
	if a.lines == nil {
		a.lines = bufio.NewReader(a.in)
	}
	text, err := a.lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return strings.TrimRight(text, "\r\n")
}

// secret reads a line that the terminal does not show.
func (a *asker) secret(what string) string {
	if !a.terminal() {
		return a.line(what)
	}
	fmt.Fprint(a.say, what+": ")
	text, err := term.ReadPassword(int(a.in.(*os.File).Fd()))
	fmt.Fprintln(a.say)
	if err != nil {
		a.err = err
	}
	return string(text)
}
