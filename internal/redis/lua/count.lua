-- Adds one to a counter, which lives so long from its first count.
--
-- KEYS: counter; ARGV: ms
local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return n
