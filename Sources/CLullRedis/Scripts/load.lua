-- Answers with rows of a shard, with their entries of the inbox; changes none. What a claim wants is hidden from others
-- for a moment, and keys can be taken, so that nobody else writes them.
--
-- ARGV: the instant in place of the server's, or ''; who takes the keys, or ''; how long keys are taken or hidden; how
-- many fences; a worker whose runs are wanted, '*' for those of all, or ''; how many due keys; how many keys, of
-- whatever kind, were loaded before; how many keys; the keys.
--
-- Answers with the instant; settings, rules, place, pause, base, latest and born of the shard; the keys, those that are
-- due first; their rows; their entries, or 0; how many are due; the keys that wake next, with their instants; the first
-- fence; the keys that somebody else has taken; and how many runs workers have.
local now, taker, span = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local fences, owner, limit, loaded = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local shard = call(
    'HMGET', META, 'version', 'settings', 'rules', 'place', 'pause', 'base', 'latest', 'fence', 'taken', 'born')
check(shard[1])
now = now or time()

local keys, known = {}, {}
local function want(key)
    if not known[key] then
        known[key] = true
        keys[#keys + 1] = key
    end
end
-- A pause is its instant, its end or `-`, and its reason.
local ends = tonumber(string.match(shard[5] or '', '^%d+ (%d+)'))
local due = limit > 0 and (not shard[5] or ends and ends <= now)
    and call('ZRANGEBYSCORE', DUE, '-inf', digits(now), 'WITHSCORES', 'LIMIT', 0, limit + loaded) or {}
local hidden = {}
for i = 1, #due, 2 do
    want(due[i])
    hidden[i], hidden[i + 1] = digits(now + span), due[i]
end
for i = 9, 8 + tonumber(ARGV[8]) do want(ARGV[i]) end
local held = {}
if owner == '*' then
    held = call('ZRANGE', HELD, 0, -1)
elseif owner ~= '' then
    held = call('ZRANGEBYLEX', HELD, '[' .. owner .. ':', '(' .. owner .. ';')
end
for _, member in ipairs(held) do
    local colon = string.find(member, ':', 1, true)
    if colon then want(string.sub(member, colon + 1)) end
end
-- At least one that was not loaded, if there is one.
local next = owner ~= '' and call('ZRANGE', DUE, #due / 2, #keys + loaded, 'WITHSCORES') or {}

local rows = {}
for start = 1, #keys, 1000 do
    for _, row in ipairs(call('HMGET', ROWS, unpack(keys, start, math.min(start + 999, #keys)))) do
        rows[#rows + 1] = row
    end
end
local entries = 0
if call('ZCARD', INBOX) > 1 then
    entries = {}
    for i, key in ipairs(keys) do
        local prefix = struct.pack('>I2', #key) .. key
        entries[i] = call('ZRANGEBYLEX', INBOX, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 1001)
    end
end
local refused, latest = {}, tonumber(shard[9] or 0)
if taker ~= '' then
    for i = 9, 8 + tonumber(ARGV[8]) do
        local before = call('HGET', META, 'taken:' .. ARGV[i])
        if before and tonumber(string.match(before, '^%d+')) > now and string.match(before, ' (.*)$') ~= taker then
            refused[#refused + 1] = ARGV[i]
        else
            call('HSET', META, 'taken:' .. ARGV[i], digits(now + span) .. ' ' .. taker)
            latest = math.max(latest, now + span)
        end
    end
    call('HSET', META, 'taken', digits(latest))
end
local first = 0
if fences > 0 then
    local number, shards = string.match(shard[4], '(%d+) (%d+)')
    -- The run ids of a shard leave its own number when they are divided by that of all shards.
    first = math.max(tonumber(shard[8] or number) + shards, now - now % shards + number)
    call('HSET', META, 'fence', digits(first + (fences - 1) * shards))
end
change('ZADD', DUE, hidden, #hidden)
return {
    digits(now), { shard[2], shard[3], shard[4], shard[5], shard[6], shard[7], shard[10] }, keys, rows, entries,
    #due / 2, next, digits(first), refused, owner == '*' and #held - 1 or false
}
