-- The rules of the namespace, the words for them, and the numbers that the shard draws.
if version ~= VERSION then return redis.error_reply('VERSION ' .. version) end

-- Phases of a gate; edges; what becomes of a submit.
local IDLE, RESTING, OPEN, FULL = 0, 1, 2, 3
local LEADING, TRAILING, MAX_WAIT, MAX_COUNT, FLUSH = 1, 2, 3, 4, 5
local JOIN, LEAD, COMPLETE, ABSORB = 1, 2, 3, 4

local n = {}
n.throttles, n.wait, n.max_wait, n.leading, n.trailing, n.extends, n.max_count, n.combination, n.max_batch, n.spacing,
    n.restart, n.starts, n.period, n.burst, n.max_running = unpack(unpacked(rules))
n.max_count = n.max_count or NEVER
n.latest, n.first, n.collect = n.combination == 'latest', n.combination == 'first', n.combination == 'collect'
n.span = n.throttles and n.wait or n.max_wait or NEVER
n.ends_with_execution = not n.throttles and not n.leading

-- The run ids of a shard leave its own remainder when they are divided by the number of shards.
local shard, shards = unpack(unpacked(place))

local function plus(a, b)
    return min(a + b, NEVER)
end

local function next_fence()
    fence = max(fence + shards, now - now % shards + shard)
    return fence
end

-- An error in one of these, of another type than it should be, must not come after the first change.
for _, hash in ipairs({ ROWS, VALUES, PAST }) do call('HLEN', hash) end
for _, set in ipairs({ DUE, HELD, ENDED, ANSWERED, DEAD, NAMES, READY }) do call('ZCARD', set) end
