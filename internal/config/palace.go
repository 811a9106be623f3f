package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
)

// Palace says what the capture proxy does.
type Palace struct {
	// Address is the host:port it listens on, on a loopback address; "": it does not.
	Address string
	// Owner is the e-mail address of the account whose its exchanges are; "": the
	// administrator's who has been here longest.
	Owner string
	// Upstream is the backend that requests go on to, without a trailing slash.
	Upstream string
	// OpenAI is the backend of what lies below /openai/, of the same form.
	OpenAI string
	// Memory and Disk bound what is kept of exchanges, in bytes: held until it is
	// written, and written.
	Memory, Disk int
	// Keys encrypt what is kept, as id:base64[,id:base64]; "": it is plain.
	Keys string
}

// PalaceDir is the folder of the capture proxy.
func (c Config) PalaceDir() string { return filepath.Join(c.Data, "palace") }

// palace are the settings of the capture proxy.
func palace() []Variable {
	return []Variable{
		{
			Name: "PALACE_ADDR", Flag: "palace-addr", Default: "127.0.0.1:19848",
			Doc: "host:port of the capture proxy, on a loopback address; port 0 picks a free one, off: dev serves none",
			set: func(c *Config, s string) error {
				if s == "off" {
					c.Palace.Address = ""
					return nil
				}
				return loopback(&c.Palace.Address, s)
			},
		},
		{
			Name: "PALACE_OWNER", Doc: "e-mail address of the account that exchanges of the capture proxy belong to; unset: the first administrator",
			set: func(c *Config, s string) error { c.Palace.Owner = s; return nil },
		},
		{
			Name: "PALACE_UPSTREAM", Flag: "palace-upstream", Default: "https://api.anthropic.com",
			Doc: "URL of the Anthropic-compatible backend that the capture proxy passes requests on to, with the keys they bring",
			set: func(c *Config, s string) error { return webURL(&c.Palace.Upstream, s) },
		},
		{
			Name: "PALACE_OPENAI_UPSTREAM", Default: "https://api.openai.com",
			Doc: "URL of the OpenAI-compatible backend that the capture proxy passes requests below /openai/ on to, with the keys they bring",
			set: func(c *Config, s string) error { return webURL(&c.Palace.OpenAI, s) },
		},
		{
			Name: "PALACE_MEMORY", Default: "128MB", Doc: "memory for what the capture proxy has not written yet; what does not fit is passed and not kept",
			set: func(c *Config, s string) error { return bytes(&c.Palace.Memory, s) },
		},
		{
			Name: "PALACE_DISK", Default: "20GB", Doc: "disk for what the capture proxy keeps, and as much for what the store has of it; the oldest makes room",
			set: func(c *Config, s string) error { return bytes(&c.Palace.Disk, s) },
		},
		{
			Name: "PALACE_KEYS", Secret: true, Doc: "keys that encrypt what the capture proxy keeps, as id:base64[,id:base64]; the first encrypts",
			set: func(c *Config, s string) error { return nonEmpty(&c.Palace.Keys, s) },
		},
	}
}

// loopback is an address that only this machine reaches.
func loopback(into *string, text string) error {
	if err := hostPort(into, text); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(text)
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("is not a loopback address, as 127.0.0.1:19848 is; others must not reach the capture proxy")
	}
	return nil
}

// loops reports whether the proxy would be its own backend.
func (p Palace) loops(upstream string) bool {
	u, err := url.Parse(upstream)
	if err != nil {
		return false
	}
	host, port, _ := net.SplitHostPort(p.Address)
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Port() == port && port != "0" && (u.Hostname() == "localhost" || u.Hostname() == host || err == nil && ip.IsLoopback() && host == ip.String())
}
