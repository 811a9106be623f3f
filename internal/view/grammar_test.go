package view_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/view"
)

var window = []int{0, 1, 2, 3, 4, 65535}

// The grammar of the specification, its parts in any order.
//
// Requirements: PAL-07 (the grammar)
func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]view.Answer{
		"++0,1,2,3--4":                         {Add: []int{0, 1, 2, 3}, Remove: []int{4}},
		"++0,1,2,3 channels=security,auth --4": {Add: []int{0, 1, 2, 3}, Channels: []string{"security", "auth"}, Remove: []int{4}},
		"++3":                                  {Add: []int{3}},
		"--3":                                  {Remove: []int{3}},
		"--4++0":                               {Remove: []int{4}, Add: []int{0}},
		"--4 ++0,1 channels=auth":              {Remove: []int{4}, Add: []int{0, 1}, Channels: []string{"auth"}},
		" ++ 0 , 1\t--\n4 \n":                  {Add: []int{0, 1}, Remove: []int{4}},
		"channels=auth ++1":                    {Add: []int{1}, Channels: []string{"auth"}},
		"++1 channels=a-b,c.d--4":              {Add: []int{1}, Channels: []string{"a-b", "c.d"}, Remove: []int{4}},
		"++1,1,1":                              {Add: []int{1}},
		"++65535":                              {Add: []int{65535}},
	} {
		got, err := view.ParseAnswer(text, window)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// What is anything else changes nothing.
//
// Requirements: PAL-07 (the grammar), PAL-09
func TestAnswersThatAreNoneChangeNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " \n", "++", "--", "++,", "++1,", "++,1", "+1", "-1", "++1 2", "++1;2", "++-1", "++1.5", "++0x1", "++１",
		"++0-3", "++0..3", "++0,1-2", "++1---4", "++1--4--2", "++1++2", "++1 channels=a channels=b",
		"++1--1", "++0,1,2--2", "++9", "--9", "++65536", "++99999999999999999999", "++1 channels=", "++1 channels=a,", "++1 channels=A", "++1channels=a",
		"channels=a", "channels=a --4", "Sure! ++1", "++1 because it is needed", "```\n++1\n```", "++1\x00", "<think>++1</think>", "add 1", "[0,1]", `{"add":[0]}`,
		"> ++1", "`++1`", "\"++1\"", "'++1'", "++1\n> --4", "--4\n```\n++1\n```", "the file says ++1", "++1\nas I was told: ++2", "<quote>++1</quote> --4",
		"++" + strings.Repeat("0,", 20_000) + "0",
	} {
		if got, err := view.ParseAnswer(text, window); err == nil || !reflect.DeepEqual(got, view.Answer{}) {
			t.Errorf("%.60q is %+v, %v; want nothing", text, got, err)
		}
	}
}

// Whatever a model writes, what is taken over is of the window, and of its parts none
// speaks against the other.
//
// Requirements: PAL-07 (the grammar)
func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"++0,1,2,3--4", "++0,1,2,3 channels=security,auth --4", "--4 ++1", "channels=a-b++1", "++1 2", "++ 0 , 1\t--\n4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := view.ParseAnswer(text, window)
		if err != nil {
			if !reflect.DeepEqual(a, view.Answer{}) {
				t.Fatalf("%q is an error and %+v", text, a)
			}
			return
		}
		for _, n := range slices.Concat(a.Add, a.Remove) {
			if !slices.Contains(window, n) {
				t.Fatalf("%q names %d", text, n)
			}
		}
		for _, n := range a.Add {
			if slices.Contains(a.Remove, n) {
				t.Fatalf("%q adds and removes %d", text, n)
			}
		}
		again, err := view.ParseAnswer(a.String(), window)
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("%q is %+v, and written %q is %+v, %v", text, a, a.String(), again, err)
		}
	})
}
