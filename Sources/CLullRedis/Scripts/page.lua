-- Answers with some keys in the order of their bytes, and their rows. ARGV[2], ARGV[3]: the first and the last, as
-- ZRANGEBYLEX takes them; ARGV[4]: the most.
local keys = redis.call('ZRANGEBYLEX', KEYS[10], ARGV[2], ARGV[3], 'LIMIT', 0, tonumber(ARGV[4]))
return { keys, #keys > 0 and redis.call('HMGET', KEYS[2], unpack(keys)) or {} }
