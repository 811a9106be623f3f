-- Asks to call a tool. Returns whether it may be called, whether that call is
-- the probe, and the ms it rests otherwise.
--
-- KEYS: breaker; ARGV: ms a probe may take, ms a breaker is remembered
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'until', 'probe')
if not held[1] then return {1, 0, 0} end
local rest = tonumber(held[1]) - now
if rest > 0 then return {0, 0, rest} end
if held[2] and tonumber(held[2]) > now then return {0, 0, 1000} end
redis.call('HSET', KEYS[1], 'probe', string.format('%.0f', now + ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, 1, 0}
