-- Forgets some ends and answers that are old. ARGV[2]: how long ends are retained, ARGV[3]: answers to tokens, in
-- microseconds; ARGV[4]: of how many keys ends are retained at most, and how many answers; ARGV[5]: the most that it
-- looks at.
--
-- Answers with the number of those that it has looked at.
local most, limit = tonumber(ARGV[4]), tonumber(ARGV[5])

-- The oldest members of a sorted set that are too old or too many, without the sentinel.
local function oldest(set, span)
    local surplus = min(limit, call('ZCARD', set) - 1 - most)
    local found = surplus > 0 and call('ZRANGE', set, 0, surplus - 1) or {}
    if #found < limit then
        found = call('ZRANGEBYSCORE', set, '-inf', '(' .. digits(now - span), 'LIMIT', 0, max(limit, #found))
    end
    return found
end

local looked = 0
local keys = oldest(ENDED, tonumber(ARGV[2]))
load(keys)
load_ends(keys)
local older = now - tonumber(ARGV[2])
for _, key in ipairs(keys) do
    looked = looked + 1
    local list = ends[key]
    -- How they ended decides whether a run that died, or that may still die, is outdated.
    local stays = rows[key] and rows[key].run
    for _, e in ipairs(list) do stays = stays or e[1] == 'dead' end
    local kept = { had = true, changed = true }
    local oldest = now
    for _, e in ipairs(list) do
        if stays or e[4] >= older then
            add(kept, e)
            if not stays then oldest = min(oldest, e[4]) end
        end
    end
    ends[key] = kept
    if #kept > 0 then add(ended, digits(oldest), key) end
end
for _, name in ipairs(oldest(ANSWERED, tonumber(ARGV[3]))) do
    looked = looked + 1
    local packed = call('HGET', PAST, name)
    local at = packed and unpacked(packed)[string.sub(name, 1, 1) == 't' and 4 or 2]
    -- A client's record is newer than its age if it has sent more since.
    if at and at >= now - tonumber(ARGV[3]) then
        add(answered, digits(at), name)
    else
        add(forgotten, name)
    end
end
order = {}
save(false)
for start = 1, #forgotten, 1000 do
    call('ZREM', ANSWERED, unpack(forgotten, start, min(start + 999, #forgotten)))
end
return looked
