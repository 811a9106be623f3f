package wire

import (
	"fmt"

	"liminal/internal/config"
	"liminal/internal/lora/train"
)

// Trainer is who trains adapters: the command of the settings, or inside, which
// this program does.
func Trainer(c config.Config, inside train.Trainer) (train.Trainer, error) {
	if c.Adapters.Trainer != "command" {
		return inside, nil
	}
	command, err := train.ParseCommand(c.Adapters.Command)
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_TRAIN_COMMAND=%s %w", c.Adapters.Command, err)
	}
	return command, nil
}
