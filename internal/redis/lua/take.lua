-- Spends one token of a bucket. Returns 0, or the microseconds until there is
-- one; nothing was taken then.
--
-- KEYS: bucket; ARGV: tokens a second, burst
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(held[1] or burst), tonumber(held[2] or now)
now = math.max(now, at)
tokens = math.min(burst, tokens + rate * (now - at) / 1000000)
local wait = 0
if tokens < 1 then
  wait = math.min((1 - tokens) / rate, 1e9) * 1000000 + 1
else
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%.0f', now))
-- A full bucket is as good as none.
local full = rate > 0 and math.min((burst - tokens) / rate, 1e9) or 1e9
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', full * 1000 + 1000))
return wait
