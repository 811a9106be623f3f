package webaccess

import "net/http"

// Trust makes a client accept the certificate of a test's server.
func Trust(c *Client, of *http.Client) {
	c.http.Transport.(*http.Transport).TLSClientConfig = of.Transport.(*http.Transport).TLSClientConfig.Clone()
}

// Answer replaces the network.
func Answer(c *Client, f func(*http.Request) (*http.Response, error)) { c.http.Transport = answers(f) }

type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
