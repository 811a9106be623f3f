package activities

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/run"
)

// audit is what the row of the turn's audit gets (GRND-28); nil: it has none.
func (c *closing) audit() *chat.TurnEnd {
	if c.Opened.Audit == "" {
		return nil
	}
	used := c.Tally.Usage
	input, output := used.Input+used.CacheRead+used.CacheWrite, used.Output
	end := &chat.TurnEnd{
		Model: c.Tally.Model, Input: &input, Output: &output, CostUSD: used.CostUSD, Error: c.ended(), Tag: c.tag(),
	}
	if m := c.message(); m != nil {
		end.Response, end.ResponseHash = m.Content, hashed(m.Content)
		for _, s := range m.Struct.Segments {
			if s.Type == chat.SegmentAttachment || s.Type == chat.SegmentCitation {
				end.Chips++
			}
		}
	}
	for _, r := range c.Tally.Records {
		if p := c.Opened.Tools[r.Tool]; p.Plain || p.Model {
			continue
		}
		end.Calls = append(end.Calls, chat.AuditCall{
			Name: r.Tool, ArgsHash: chat.ArgsHash(r.Arguments), Status: r.Status, LatencyMS: r.MS, Mutating: r.Mutating, Approved: r.Approved,
		})
		end.Rows = append(end.Rows, rowsOf(r.Summary))
	}
	return end
}

// ended is how the turn ended in the words of GRND-29; empty: well.
func (c *closing) ended() string {
	switch f := c.Outcome.Err; {
	case c.status == run.Cancelled:
		return chat.EndAborted
	case f == nil:
		if said, _ := c.Outcome.Data["error_code"].(string); said == chat.EndLoop || said == chat.EndTokens {
			return said
		}
		return ""
	default:
		return chat.EndOf(f.Code)
	}
}

// tags are what a turn can be about (GRND-39).
var tags = []string{"data", "concept", "navigation", "meta", "other"}

// tag is what the graph says the turn was about, in the closed set; where it says
// nothing, the turn was about something else.
func (c *closing) tag() string {
	said, _ := c.Outcome.Data["tag"].(string)
	for _, t := range tags {
		if said == t {
			return t
		}
	}
	return tags[len(tags)-1]
}

// rowsOf is how many results a summary such as "3 results" tells of.
func rowsOf(summary string) int {
	for word := range strings.FieldsSeq(summary) {
		if n, err := strconv.Atoi(word); err == nil {
			return n
		}
	}
	return 0
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
