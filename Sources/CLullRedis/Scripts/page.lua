-- Answers with some keys, and their rows. ARGV[2]: key, for the order of their bytes, with ARGV[3] and ARGV[4], the
-- first and the last, as ZRANGEBYLEX takes them; or wake, for the order of the instants at which they wake, with
-- ARGV[3], how many come before. ARGV[5]: the most.
local keys
if ARGV[2] == 'key' then
    keys = redis.call('ZRANGEBYLEX', KEYS[10], ARGV[3], ARGV[4], 'LIMIT', 0, tonumber(ARGV[5]))
else
    keys = redis.call('ZRANGE', KEYS[4], tonumber(ARGV[3]), tonumber(ARGV[3]) + tonumber(ARGV[5]) - 1)
end
return { keys, #keys > 0 and redis.call('HMGET', KEYS[2], unpack(keys)) or {} }
