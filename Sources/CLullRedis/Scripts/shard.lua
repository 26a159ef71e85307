-- What scripts begin with. KEYS: the structures of a shard, in this order. Each has the member '\255lull', so that it
-- never disappears.
local META, ROWS, VALUES, DUE, HELD, NAMES, READY, ENDS, ENDED, PAST, AGED, DEAD, INBOX = unpack(KEYS)
local call = redis.call

-- Instants are microseconds since 1970.
local function time()
    local time = call('TIME')
    return time[1] * 1000000 + time[2]
end

local function digits(number)
    return string.format('%.0f', number)
end

-- Gives a command its arguments, some at a time.
local function change(command, key, list, n)
    for start = 1, n, 2000 do call(command, key, unpack(list, start, math.min(start + 1999, n))) end
end

-- Ends the script unless the shard is of this version, and its structures are what they should be: an error comes
-- before the first change.
local function check(version)
    if not version then error({ err = 'NOPOLICY the namespace has never been opened with a policy' }) end
    if version ~= VERSION then error({ err = 'VERSION ' .. version }) end
    for _, hash in ipairs({ ROWS, VALUES, PAST }) do call('HLEN', hash) end
    for _, set in ipairs({ DUE, HELD, NAMES, READY, ENDS, ENDED, AGED, DEAD, INBOX }) do call('ZCARD', set) end
end
