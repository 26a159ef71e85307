-- Writes what steps have made of rows: of each key if its row is byte for byte what was read and nobody else has taken
-- it. Answers with the places of the keys, from 0, of which nothing was written; or with CHANGED, and nothing was.
--
-- ARGV: the number of a client, and of its batch, which is answered as the first time if it is repeated; the settings
-- of the shard as they were read, '' for a new shard; the instant of the steps; who has taken the keys, or ''; '1' for
-- a hint to workers; how many guards, and four for each: HGET, structure, field, and what must be there; or ZCARD,
-- structure, '', and how many members there may be. Then for each key: the key; the row as it was read, or ''; for a
-- new one the number with which it begins, or ''; how many members must be there, or must not, and four for each:
-- HEXISTS or ZSCORE, structure, member, 1 or 0; and how many commands, each with its name and structure, and two
-- arguments or one.
local client, batch, now, taker = 'b' .. ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local version, settings, base, born, latest, taken = unpack(
    call('HMGET', META, 'version', 'settings', 'base', 'born', 'latest', 'taken'))
if ARGV[3] ~= '' then check(version) end
local before = call('HGET', PAST, client)
if before and string.match(before, '^%d+') == batch then
    local conflicts = {}
    for place in string.gmatch(string.sub(before, #batch + 1), '%d+') do conflicts[#conflicts + 1] = tonumber(place) end
    return conflicts
end
if (settings or '') ~= ARGV[3] then return 'CHANGED' end
local at = 8
for _ = 1, tonumber(ARGV[7]) do
    local key, fits = KEYS[tonumber(ARGV[at + 1])], nil
    if ARGV[at] == 'HGET' then
        fits = (call('HGET', key, ARGV[at + 2]) or '') == ARGV[at + 3]
    else
        fits = call('ZCARD', key) <= tonumber(ARGV[at + 3])
    end
    if not fits then return 'CHANGED' end
    at = at + 4
end

-- What the commands are, and the arguments of all keys together. Of a list, `n` counts them.
local PAIRS, SINGLES, SUM, MAX, RESET, UNLINK = 1, 2, 3, 4, 5, 6
local kinds = {
    HSET = PAIRS, ZADD = PAIRS, HDEL = SINGLES, ZREM = SINGLES, HINCRBY = SUM, MAX = MAX, RESET = RESET, UNLINK = UNLINK
}
local commands, lists, sums, removes = {}, {}, {}, false
local greatest = { base = tonumber(base or 0), born = tonumber(born or 0), latest = tonumber(latest or 0) }
local function command(name)
    local verb, structure = string.match(name, '(%u+) (%d+)')
    local kind = kinds[verb]
    local size = kind == SINGLES and 2 or 3
    local known = { verb = verb, key = KEYS[tonumber(structure)], kind = kind, size = size, n = 0 }
    commands[name] = known
    if kind == PAIRS or kind == SINGLES then lists[#lists + 1] = known end
    return known
end
local function add(known, a, b)
    local kind, n = known.kind, known.n
    if kind == PAIRS then
        known[n + 1], known[n + 2], known.n = a, b, n + 2
    elseif kind == SINGLES then
        known[n + 1], known.n = a, n + 1
    elseif kind == SUM then
        sums[a] = (sums[a] or 0) + b
    elseif kind == MAX then
        greatest[a] = math.max(greatest[a], tonumber(b))
    elseif kind == RESET then
        greatest[a] = tonumber(b)
    else
        removes = true
    end
end

local busy, conflicts, place = tonumber(taken or 0) > now, {}, 0
while at <= #ARGV do
    local key = ARGV[at]
    local fits = (call('HGET', ROWS, key) or '') == ARGV[at + 1]
        and (ARGV[at + 2] == '' or tonumber(base or 0) <= tonumber(ARGV[at + 2]))
    if busy and fits then
        local by = call('HGET', META, 'taken:' .. key)
        fits = not by or string.match(by, ' (.*)$') == taker or tonumber(string.match(by, '^%d+')) <= now
    end
    local checks = tonumber(ARGV[at + 3])
    at = at + 4
    for _ = 1, checks do
        local there = call(ARGV[at], KEYS[tonumber(ARGV[at + 1])], ARGV[at + 2])
        if (there and there ~= 0) ~= (ARGV[at + 3] == '1') then fits = false end
        at = at + 4
    end
    if not fits then conflicts[#conflicts + 1] = place end
    if taker ~= '' then add(commands['HDEL 1'] or command('HDEL 1'), 'taken:' .. key) end
    local last = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, last do
        local known = commands[ARGV[at]] or command(ARGV[at])
        if fits then add(known, ARGV[at + 1], ARGV[at + 2]) end
        at = at + known.size
    end
    place = place + 1
end

if removes then
    call('UNLINK', unpack(KEYS))
    return conflicts
end
for _, known in ipairs(lists) do change(known.verb, known.key, known, known.n) end
for field, difference in pairs(sums) do
    if difference ~= 0 and call('HINCRBY', META, field, difference) == 0 then call('HDEL', META, field) end
end
call('HINCRBY', META, 'steps', 1)
call(
    'HSET', META, 'base', digits(greatest.base), 'born', digits(greatest.born), 'latest',
    digits(math.max(greatest.latest, now)))
call('HSET', PAST, client, batch .. ' ' .. table.concat(conflicts, ' '))
call('ZADD', AGED, digits(now), client)
-- A hint to workers that wait: without the right to give it, they look by themselves, every second.
if ARGV[6] == '1' then redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '') end
return conflicts
