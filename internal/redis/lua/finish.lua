-- Says that no more events will come to a run's log, and when to forget it.
--
-- KEYS: entries, state; ARGV: channel, keep ms
local held = redis.call('HMGET', KEYS[2], 'base', 'last')
if not held[1] then
  local clock = redis.call('TIME')
  local now = string.format('%.0f', clock[1] * 1000000 + clock[2])
  held = {now, now}
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[2], 'base', held[1], 'last', held[2], 'finished', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('PUBLISH', ARGV[1], held[2] .. ':' .. held[2] .. ':' .. held[1] .. ':1:')
