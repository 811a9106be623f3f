package model

// ModeOf is the mode of an adapter whose document names one, or, from before
// there were modes, only the older word backend (LORA-06): local weights with
// instructions are a hybrid, api and remote are remote.
func ModeOf(mode, backend string, instructed bool) string {
	switch {
	case mode != "":
		return mode
	case backend == "api" || backend == "remote":
		return ModeRemote
	case backend == "prompt":
		return ModePrompt
	case backend == "local" && !instructed:
		return ModeLocal
	}
	return ModeHybrid
}
