package capture

import "encoding/json"

// Headers that say who asks.
const (
	namedHeader   = "X-Palace-Agent"
	projectHeader = "X-Palace-Project"
	AgentHeader   = "X-Claude-Code-Agent-Id"
	parentHeader  = "X-Claude-Code-Parent-Agent-Id"
	SessionHeader = "X-Claude-Code-Session-Id"
)

// SummaryOrder is how Claude Code asks for the summary that /compact begins with.
const SummaryOrder = "CRITICAL: Respond with TEXT ONLY"

// Client is whose history a request belongs to.
type Client struct {
	// Key is what the client calls its session or agent.
	Key    string
	Parent string // the key of the agent above; "": there is none
	Named  bool   // the client says which session or agent it is
	// Project is the one it says, else that of its token.
	Project string
}

// ClientOf is who asks. session is the one in the body, which is asked for where no
// header says one.
func ClientOf(r Request, session string) Client {
	c := Client{Project: r.Project, Named: true}
	if p := r.Header.Get(projectHeader); p != "" {
		c.Project = p
	}
	if s := r.Header.Get(SessionHeader); s != "" {
		session = s
	}
	switch agent := r.Header.Get(AgentHeader); {
	case r.Header.Get(namedHeader) != "":
		c.Key = "agent:" + r.Header.Get(namedHeader)
	case agent != "":
		c.Key, c.Parent = "subagent:"+session+"/"+agent, "session:"+session
		if above := r.Header.Get(parentHeader); above != "" {
			c.Parent = "subagent:" + session + "/" + above
		}
	case session != "":
		c.Key = "session:" + session
	default:
		c.Key, c.Named = "client:"+r.Agent+"/"+c.Project, false
	}
	return c
}

// SaysWho reports whether the headers alone say whose a request is.
func SaysWho(r Request) bool {
	return r.Header.Get(namedHeader) != "" || r.Header.Get(SessionHeader) != ""
}

// SessionOf is the session in the metadata of a body: its user_id may be JSON itself.
func SessionOf(metadata []byte) string {
	var m struct {
		User string `json:"user_id"`
	}
	var u struct {
		Session string `json:"session_id"`
	}
	if json.Unmarshal(metadata, &m) != nil || json.Unmarshal([]byte(m.User), &u) != nil {
		return ""
	}
	return u.Session
}
