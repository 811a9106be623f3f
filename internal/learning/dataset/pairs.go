package dataset

import "slices"

// pairs are corrections over what they correct, and the version of a turn that
// was liked last over those that were disliked. Pairs are no part of the target
// of TRAIN-02; they are for preference losses (TRAIN-01).
func (m *maker) pairs(cases []Case) {
	liked := map[string]Case{}
	for _, c := range cases {
		if c.TurnID != "" && c.Score > 0 && c.Corrected == "" {
			liked[c.TurnID] = c
		}
	}
	for _, c := range cases {
		if c.Corrected != "" && c.Answer != "" && c.Corrected != c.Answer {
			m.pair(c, c.Corrected, c.Answer, 0)
		}
		better, known := liked[c.TurnID]
		if c.TurnID == "" || c.Score >= 0 || !known || better.Answer == c.Answer {
			continue
		}
		m.pair(better, better.Answer, c.Answer, c.ID)
	}
}

func (m *maker) pair(c Case, chosen, rejected string, worse int64) {
	prompt, tokens, why := m.fit(c, chosen, rejected)
	if why != "" {
		return // it was counted as a row, or it is one of two that cannot be compared
	}
	m.d.Pairs = append(m.d.Pairs, Pair{
		Prompt: prompt, Chosen: chosen, Rejected: rejected, Weight: m.weight(c), ConversationID: c.ConversationID, MessageID: c.MessageID,
		EventID: c.ID, WorseID: worse, Tokens: tokens,
	})
}

// unpaired are answers that were disliked, and of which no better one is known.
func (m *maker) unpaired(cases []Case) {
	for _, c := range cases {
		if c.Score >= 0 || c.Corrected != "" || c.Answer == "" ||
			slices.ContainsFunc(m.d.Pairs, func(p Pair) bool { return p.WorseID == c.ID }) {
			continue
		}
		prompt, tokens, why := m.fit(c, c.Answer)
		if why != "" {
			m.left[why]++
			continue
		}
		m.d.Unpaired = append(m.d.Unpaired, Unpaired{
			Prompt: prompt, Completion: c.Answer, Weight: m.weight(c), ConversationID: c.ConversationID, MessageID: c.MessageID,
			EventID: c.ID, Tokens: tokens,
		})
	}
}
