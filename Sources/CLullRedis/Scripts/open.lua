-- Creates a shard of a namespace, or changes its durations and counts.
--
-- KEYS: the structures of the shard. ARGV: the number of the shard and of all shards; then kind, wait, max_wait,
-- leading, trailing, extends, max_count, combination, max_batch, spacing, restart, starts, period, burst, max_running,
-- merges. Durations are in microseconds, '' for none, '1' for true; restart is 'due' or 'submitted' if a newer value
-- interrupts a run. At most `starts` runs start in any `period`, `burst` of them at once, and workers have at most
-- `max_running`, which needs a namespace of one shard. Who handles a run of a namespace that merges folds its values.
--
-- Answers with the number of all shards, and with the rules that the shard has: other ones than given if kind, edges,
-- combination, restart or merges differ.
local META = KEYS[1]
local function number(text)
    return text ~= '' and tonumber(text)
end
local given = {
    ARGV[3] == 'throttle', number(ARGV[4]), number(ARGV[5]), ARGV[6] == '1', ARGV[7] == '1', ARGV[8] == '1',
    number(ARGV[9]), ARGV[10], number(ARGV[11]), number(ARGV[12]),
    ARGV[13] ~= '' and ARGV[13], number(ARGV[14] or ''), number(ARGV[15] or ''), number(ARGV[16] or ''),
    number(ARGV[17] or ''), ARGV[18] == '1'
}
local packed, place, version = unpack(redis.call('HMGET', META, 'rules', 'place', 'version'))
if packed then
    if version ~= VERSION then return redis.error_reply('VERSION ' .. version) end
    local rules = cmsgpack.unpack(packed)
    for _, i in ipairs({ 1, 4, 5, 8, 11, 16 }) do
        if (rules[i] or false) ~= given[i] then return { cmsgpack.unpack(place)[2], packed } end
    end
    if given[15] and cmsgpack.unpack(place)[2] > 1 then
        return redis.error_reply('SHARDS ' .. cmsgpack.unpack(place)[2])
    end
else
    place = cmsgpack.pack({ tonumber(ARGV[1]), tonumber(ARGV[2]) })
end
for _, i in ipairs({ 2, 3, 6 }) do redis.call('HLEN', KEYS[i]) end
for _, i in ipairs({ 4, 5, 7, 8, 9, 10, 11 }) do redis.call('ZCARD', KEYS[i]) end
for _, i in ipairs({ 2, 3, 6 }) do redis.call('HSET', KEYS[i], '\255lull', '') end
redis.call('ZADD', KEYS[4], '+inf', '\255lull')
redis.call('ZADD', KEYS[5], '0', '\255lull')
for _, i in ipairs({ 7, 8, 9, 11 }) do redis.call('ZADD', KEYS[i], '+inf', '\255lull') end
-- All keys have this score, and are in the order of their bytes.
redis.call('ZADD', KEYS[10], '0', '\255lull')
packed = cmsgpack.pack(given)
redis.call('HSETNX', META, 'numbers', cmsgpack.pack({ 0, tonumber(ARGV[1]), 0, 0, 0, 0, 0, 0, 0 }))
redis.call('HSET', META, 'version', VERSION, 'rules', packed, 'place', place)
return { cmsgpack.unpack(place)[2], packed }
