package anthropic

import (
	"regexp"
	"strconv"
)

// version is the generation of a model: 4.6 is {4, 6}. The zero one is not
// known, as of a model that a gateway has named.
type version struct{ major, minor int }

// A family may stand before the numbers (claude-opus-4-8) or behind them
// (claude-3-5-haiku); a date is no minor number.
var named = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?:[^0-9]|$)`)

func versionOf(name string) version {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return version{}
	}
	major, _ := strconv.Atoi(m[1]) // at most two digits
	minor, _ := strconv.Atoi(m[2]) // none is 0
	return version{major, minor}
}

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// sampled reports whether the model lets a request say how freely words are
// chosen. Models after 4.6 refuse a request that does.
func (v version) sampled() bool { return !v.atLeast(4, 7) }

// formatted reports whether the model keeps to a JSON Schema by itself.
func (v version) formatted() bool { return v.atLeast(4, 5) }
