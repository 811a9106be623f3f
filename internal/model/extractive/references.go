package extractive

func (t turn) references() map[string]any { return map[string]any{} }
