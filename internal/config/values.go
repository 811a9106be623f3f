package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Each function below stores one kind of value, or says what it should have
// looked like in words that complete "NAME=text …".

func nonEmpty(into *string, text string) error {
	*into = text
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("must not be blank")
	}
	return nil
}

func folder(into *string, text string) error {
	abs, err := filepath.Abs(text)
	if err != nil {
		return fmt.Errorf("is not a path: %w", err)
	}
	*into = abs
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return fmt.Errorf("is a file; name a folder")
	}
	return nil
}

func file(into *string, text string) error {
	*into = text
	if info, err := os.Stat(text); err != nil || info.IsDir() {
		return fmt.Errorf("is not a file that can be read")
	}
	return nil
}

func hostPort(into *string, text string) error {
	*into = text
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("is not a host and a port, as in 127.0.0.1:8080")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return fmt.Errorf("needs a port from 0 to 65535")
	}
	return nil
}

func webURL(into *string, text string) error {
	text = strings.TrimRight(text, "/")
	return schemeURL(into, text, "http", "https")
}

func schemeURL(into *string, text string, schemes ...string) error {
	*into = text
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("is not a URL that begins with %s://", strings.Join(schemes, ":// or "))
	}
	return nil
}

func oneOf(into *string, text string, allowed ...string) error {
	*into = text
	if !slices.Contains(allowed, text) {
		return fmt.Errorf("is not one of %s", strings.Join(allowed, ", "))
	}
	return nil
}

func integer(into *int, text string, low, high int) error {
	n, err := strconv.Atoi(text)
	*into = n
	switch {
	case err != nil:
		return fmt.Errorf("is not a whole number")
	case low == high && n != low:
		return fmt.Errorf("must be %d", low)
	case n < low || n > high:
		return fmt.Errorf("must be from %d to %d", low, high)
	}
	return nil
}

// bytes reads an amount of memory, in powers of 1024.
func bytes(into *int, text string) error {
	for i, unit := range []string{"KB", "MB", "GB", "TB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(number)
			*into = n << (10 * (i + 1))
			if err != nil || n < 1 || n > 1<<20 {
				break
			}
			return nil
		}
	}
	return fmt.Errorf("is not an amount of memory, as in 512MB or 6GB")
}

func boolean(into *bool, text string) error {
	b, err := strconv.ParseBool(text)
	*into = b
	if err != nil {
		return fmt.Errorf("is not true or false")
	}
	return nil
}

// names reads a list separated by commas.
func names(into *[]string, text string) error {
	*into = nil
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(*into, name) {
			return fmt.Errorf("is not a list of different names, separated by commas")
		}
		*into = append(*into, name)
	}
	return nil
}

// hosts reads a list of names as a request's Host has them, or "*".
func hosts(into *[]string, text string) error {
	if err := names(into, text); err != nil {
		return err
	}
	for _, host := range *into {
		u, err := url.Parse("//" + host)
		if host != "*" && (err != nil || u.Host != host || u.Hostname() == "") {
			return fmt.Errorf("has %q, which is no host or host:port, as in chat.example.org; without https:// and without a path", host)
		}
	}
	return nil
}

// origins are what a browser says a page is of: scheme, host and a port of its own.
func origins(into *[]string, text string) error {
	if err := names(into, text); err != nil {
		return err
	}
	for i, one := range *into {
		u, err := url.Parse(one)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery+u.Fragment != "" {
			return fmt.Errorf("has %q, which is no origin, as in https://inbox.example.org; each is named, and * is none", one)
		}
		(*into)[i] = u.Scheme + "://" + u.Host
	}
	return nil
}

func fraction(into *float64, text string) error {
	f, err := strconv.ParseFloat(text, 64)
	*into = f
	if err != nil || !(f >= 0 && f <= 1) { // written so that NaN fails too
		return fmt.Errorf("is not a number from 0 to 1")
	}
	return nil
}

// Duration reads what time.ParseDuration reads, and whole days as in 14d.
func Duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * day
	}
	if err != nil {
		return 0, errors.New("is not a duration, as in 30m, 12h or 7d")
	}
	return d, nil
}

func duration(into *time.Duration, text string, low, high time.Duration) error {
	d, err := Duration(text)
	*into = d
	if err != nil {
		return err
	}
	if d < low || d > high {
		return fmt.Errorf("must be from %s to %s", spell(low), spell(high))
	}
	return nil
}

// spell writes a duration the way duration reads it.
func spell(d time.Duration) string {
	switch {
	case d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	default:
		return d.String()
	}
}
