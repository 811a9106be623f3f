package model

// TurnBounds are what models are held to in a turn, by the surface it is of; what is
// 0 or empty holds to nothing.
type TurnBounds struct {
	Model        string `json:"model,omitempty"`  // that answers instead of the one the graph asks for (GRND-23)
	InputTokens  int    `json:"input,omitempty"`  // the oldest messages are left out until it fits (GRND-26)
	RefuseTokens int    `json:"refuse,omitempty"` // above it the turn is refused
	OutputTokens int    `json:"output,omitempty"` // of the answer, whatever its graph says
}
