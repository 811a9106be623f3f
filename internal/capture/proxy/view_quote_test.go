package proxy

import (
	"bytes"
	"testing"

	"liminal/internal/view"
)

// What a person wants back of what is set aside is said once more in the next message of
// the user, and stays there, which costs no thinking; the past stays as it is.
//
// palace.md, 7: quote
//
// Requirements: PAL-19
func TestWhatAPersonWantsBackIsQuoted(t *testing.T) {
	t.Parallel()
	up := bindingUpstream(2)
	k := talking(t, up)
	k.turn("Read the files.")
	k.plan(asked, k.uses...)
	k.turn("Go on.")
	wants := func(p *view.Plan) { p.Quote = []string{k.uses[1].ID} }
	k.plan(wants)
	_, _, before := judged(up)
	k.turn("What did it say?")
	note := []byte("was set aside above, and its person wants it seen: Read src/2.go]")
	list := k.epochs()
	if len(list) != 2 || list[1].Why != view.Ordered || len(list[1].Quotes) != 1 || len(list[1].Replace) != 2 {
		t.Fatalf("%+v", list)
	}
	sent := func() (quotes, aside int) {
		return bytes.Count(k.last().Body, note), bytes.Count(k.last().Body, []byte(" set aside: Read src/"))
	}
	if quotes, aside := sent(); quotes != 1 || aside != 2 {
		t.Errorf("%d are quoted and %d set aside: %s", quotes, aside, k.last().Body)
	}
	k.again()
	k.turn("And after a restart?")
	if quotes, aside := sent(); quotes != 1 || aside != 2 || len(k.epochs()) != 2 {
		t.Errorf("after a restart %d are quoted and %d set aside", quotes, aside)
	}
	_, refused, dropped := judged(up)
	if refused != 0 || dropped[len(dropped)-1] != before[len(before)-1] {
		t.Errorf("%d refused, %v dropped", refused, dropped)
	}
}
