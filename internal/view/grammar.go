package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is what a classifier says of a window of blocks, by their display ids.
type Answer struct {
	Add      []int    `json:"add"`
	Remove   []int    `json:"remove"`
	Channels []string `json:"channels"` // of those that are added
}

// The bounds of an answer.
const (
	mostID     = 65_535 // display ids are 16 bits
	mostAnswer = 16 << 10
	mostTopics = 20
)

// ParseAnswer reads the grammar of a classifier (003): ++0,1,2,3 channels=security,auth
// --4, each part at most once and in any order. What is not exactly that, and an answer
// about a block that is not in the window, changes nothing: it is an error, and the
// answer that comes with it is empty (PAL-07, PAL-09).
func ParseAnswer(text string, window []int) (Answer, error) {
	a, err := parsed(text)
	if err == nil {
		err = a.within(window)
	}
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}

func parsed(text string) (a Answer, err error) {
	if len(text) > mostAnswer {
		return a, fmt.Errorf("an answer of %d bytes is no list of blocks", len(text))
	}
	s := strings.Trim(text, " \t\r\n")
	if s == "" {
		return a, errors.New("the answer says nothing")
	}
	for s != "" {
		switch {
		case strings.HasPrefix(s, string(Show)) && a.Add == nil:
			a.Add, s, err = ids(s[len(Show):])
		case strings.HasPrefix(s, string(Aside)) && a.Remove == nil:
			a.Remove, s, err = ids(s[len(Aside):])
		case strings.HasPrefix(s, topics) && a.Channels == nil:
			a.Channels, s, err = channelNames(s[len(topics):])
		default:
			return a, fmt.Errorf("%s is no part of an answer, or comes twice", shown(s))
		}
		if err != nil {
			return a, err
		}
	}
	if a.Add == nil && a.Remove == nil {
		return a, errors.New("the answer names no block")
	}
	if a.Channels != nil && a.Add == nil {
		return a, errors.New("channels are those of blocks that are added, and none is")
	}
	return a, nil
}

const topics = "channels="

const spaces = " \t\r\n"

// ids reads a list of display ids, and gives what follows it.
func ids(s string) (list []int, rest string, err error) {
	for {
		s = strings.TrimLeft(s, spaces)
		n, digits := 0, 0
		for ; digits < len(s) && s[digits] >= '0' && s[digits] <= '9'; digits++ {
			if n = n*10 + int(s[digits]-'0'); n > mostID {
				return nil, "", fmt.Errorf("there is no block %d…: display ids end at %d", n, mostID)
			}
		}
		if digits == 0 {
			return nil, "", fmt.Errorf("a display id is missing at %s", shown(s))
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
		s = s[digits:]
		after := strings.TrimLeft(s, spaces)
		if strings.HasPrefix(after, ",") {
			s = after[1:]
			continue
		}
		if after != "" && len(after) == len(s) && !strings.HasPrefix(s, string(Show)) && !strings.HasPrefix(s, string(Aside)) {
			return nil, "", fmt.Errorf("%s follows a display id", shown(s))
		}
		return list, after, nil
	}
}

// channelNames reads a list of channels, and gives what follows it.
func channelNames(s string) (list []string, rest string, err error) {
	for {
		s = strings.TrimLeft(s, spaces)
		end := 0
		for end < len(s) && !strings.ContainsRune(spaces+",+", rune(s[end])) && !strings.HasPrefix(s[end:], string(Aside)) {
			end++
		}
		name := s[:end]
		if !nameOf.MatchString(name) {
			return nil, "", fmt.Errorf("%s is no channel", shown(s))
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
		if len(list) > mostTopics {
			return nil, "", fmt.Errorf("there are more than %d channels", mostTopics)
		}
		s = strings.TrimLeft(s[end:], spaces)
		if !strings.HasPrefix(s, ",") {
			return list, s, nil
		}
		s = s[1:]
	}
}

// within refuses blocks that nobody asked about, and those that are to be seen and not.
func (a Answer) within(window []int) error {
	known := make(map[int]bool, len(window))
	for _, n := range window {
		known[n] = true
	}
	for _, n := range slices.Concat(a.Add, a.Remove) {
		if !known[n] {
			return fmt.Errorf("the answer names block %d, which is not in the window", n)
		}
	}
	for _, n := range a.Remove {
		if slices.Contains(a.Add, n) {
			return fmt.Errorf("the answer both adds and removes block %d", n)
		}
	}
	return nil
}

// String is the answer as the grammar writes it.
func (a Answer) String() string {
	var parts []string
	list := func(ids []int) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")
	}
	if len(a.Add) > 0 {
		parts = append(parts, string(Show)+list(a.Add))
	}
	if len(a.Channels) > 0 {
		parts = append(parts, topics+strings.Join(a.Channels, ","))
	}
	if len(a.Remove) > 0 {
		parts = append(parts, string(Aside)+list(a.Remove))
	}
	return strings.Join(parts, " ")
}

// shown is the beginning of what cannot be read.
func shown(s string) string {
	if s == "" {
		return "the end"
	}
	return fmt.Sprintf("%.20q", s)
}
