package api

import (
	"context"
	"time"

	"liminal/internal/chat"
)

func (s *server) turnAuditRoutes() {
	add(s, route("GET /v1/turns", "listTurnAudits", "What turns of assistants with pages of their own left behind, latest first: mine, and everybody's for administrators", scopeAdmin), s.listTurnAudits)
}

// TurnAudit is what a turn left behind (GRND-28). Words are there where the
// surface keeps them (GRND-30).
type TurnAudit struct {
	TurnID       string           `json:"turn_id" format:"uuid"`
	User         Person           `json:"user"`
	Surface      string           `json:"surface"`
	SessionID    string           `json:"session_id"`
	StartedAt    time.Time        `json:"started_at"`
	FinishedAt   *time.Time       `json:"finished_at" nullable:"true" doc:"null: it is under way"`
	DurationMS   int64            `json:"duration_ms"`
	Model        string           `json:"model"`
	InputTokens  *int             `json:"input_tokens" nullable:"true"`
	OutputTokens *int             `json:"output_tokens" nullable:"true"`
	ToolCalls    []chat.AuditCall `json:"tool_calls"`
	PromptHash   string           `json:"prompt_hash"`
	ResponseHash string           `json:"response_hash"`
	Chips        int              `json:"chip_count"`
	ErrorCode    string           `json:"error_code" doc:"user_aborted, rate_limited, token_cap, tool_loop_cap or upstream_error; empty: it ended well"`
	CostUSD      *float64         `json:"estimated_cost_usd" nullable:"true"`
	CapLifted    bool             `json:"cap_lifted" doc:"an administrator went beyond their own cap"`
	KeyID        string           `json:"key_id,omitempty" doc:"the access key it was asked for with"`
	Tag          string           `json:"classifier_tag" doc:"data, concept, navigation, meta or other; empty: it has not ended"`
	UserMessage  string           `json:"user_message,omitempty"`
	Response     string           `json:"response,omitempty"`
	Words        *int             `json:"response_tokens,omitempty" doc:"tokens of the response: as the provider counted them, else about 1.3 a word"`
	Rows         []int            `json:"rows_seen,omitempty"`
	PageOrigin   string           `json:"page_origin,omitempty"`
	Abandoned    *bool            `json:"abandoned,omitempty"`
}

type listTurnAuditsInput struct {
	Surface string `query:"surface" maxLength:"64" doc:"of the surface at this path"`
	Mine    bool   `query:"mine" doc:"my own only"`
	Cursor  string `query:"cursor"`
	Limit   int    `query:"limit" minimum:"1" maximum:"100"`
}

func (s *server) listTurnAudits(ctx context.Context, in *listTurnAuditsInput) (Page[TurnAudit], error) {
	if s.SurfaceTurns == nil {
		return page[chat.TurnAudit](nil, "", func(chat.TurnAudit) TurnAudit { return TurnAudit{} }), nil
	}
	list, next, err := s.SurfaceTurns.TurnAudits(ctx, viewerOf(ctx), chat.AuditFilter{Surface: in.Surface, Mine: in.Mine, Cursor: in.Cursor, Limit: in.Limit})
	by := names{desk: s.Proposals}
	return page(list, next, func(a chat.TurnAudit) TurnAudit {
		out := TurnAudit{
			TurnID: a.TurnID, User: *by.of(ctx, a.UserID).V, Surface: a.Surface, SessionID: a.Session, StartedAt: a.StartedAt, DurationMS: a.Took.Milliseconds(),
			Model: a.Model, InputTokens: a.Input, OutputTokens: a.Output, ToolCalls: a.Calls, PromptHash: a.PromptHash, ResponseHash: a.ResponseHash,
			Chips: a.Chips, ErrorCode: a.Error, CostUSD: a.CostUSD, CapLifted: a.Lifted, KeyID: a.KeyID, Tag: a.Tag,
			UserMessage: a.Message, Response: a.Response, Words: a.Words, Rows: a.Rows, PageOrigin: a.Page, Abandoned: a.Abandoned,
		}
		if !a.FinishedAt.IsZero() {
			out.FinishedAt = &a.FinishedAt
		}
		if out.ToolCalls == nil {
			out.ToolCalls = []chat.AuditCall{}
		}
		return out
	}), err
}
