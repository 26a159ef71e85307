-- Answers with what is needed to count the keys of a shard. ARGV[2]: the most rows that it looks at.
--
-- The instant; the counts, each with the period and its name before it; the rows that have woken; the oldest instant
-- at which a ready value fell due; if there are more rows, those that have woken in the present period; and that
-- period.
local limit, period = tonumber(ARGV[2]), math.floor(now / PERIOD)
local function woken(from)
    local keys = call('ZRANGEBYSCORE', DUE, from, digits(now), 'LIMIT', 0, limit)
    return #keys > 0 and call('HMGET', ROWS, unpack(keys)) or {}
end
local first = woken('-inf')
local recent = #first >= limit and woken(digits(period * PERIOD)) or false
local oldest = call('ZRANGE', READY, 0, 0, 'WITHSCORES')
return { digits(now), call('HGETALL', META), first, oldest[2] ~= 'inf' and oldest[2], recent, digits(period) }
