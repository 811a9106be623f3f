"""How the pump is driven."""
import time

# HIGHEST pressure, in bar.
LIMIT = 4


# A pump is primed by hand.
# Then it runs.
@dataclass
class Pump:
    # not a heading

    def prime(self):
        time.sleep(1)  # wait


def main() -> None:
    Pump().prime()
