-- Gives a place back and tells those who wait for one.
--
-- KEYS: places; ARGV: member, channel
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('PUBLISH', ARGV[2], '') end
