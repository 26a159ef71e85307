-- What most scripts begin with: the structures of a shard, what the shard says of itself, and the present instant.
--
-- KEYS: the structures of the shard, in this order. ARGV[1]: the instant in place of the server's, for tests; or ''.
local META, ROWS, VALUES, DUE, HELD, PAST, ENDED, ANSWERED, DEAD, NAMES, READY = unpack(KEYS)
local call, pack, unpacked = redis.call, cmsgpack.pack, cmsgpack.unpack
local min, max = math.min, math.max

-- Instants are microseconds since 1970, durations are microseconds. NEVER also stands for a duration without end.
local NEVER = 9007199254740991
-- Each structure has this member, so that it never disappears: it is no key.
local SENTINEL = '\255lull'
-- Counts are kept for each period in which rows wake.
local PERIOD = 4194304

local function digits(number)
    return string.format('%.0f', number)
end

local rules, numbers, place, version, pause = unpack(
    call('HMGET', META, 'rules', 'numbers', 'place', 'version', 'pause'))
if not rules then
    return redis.error_reply('NOPOLICY the namespace has never been opened with a policy')
end
-- base: the highest number that a row has begun with, or that a submit of a deleted row has had. fence: the latest
-- fence. restarted: how often values went back. runs_begun: how many runs. executed: the submits behind them.
-- failures: how many attempts have failed.
local base, fence, now, attempts, lost_leases, restarted, runs_begun, executed, failures = unpack(unpacked(numbers))
if ARGV[1] ~= '' then
    now = max(now, tonumber(ARGV[1]))
else
    local time = call('TIME')
    now = max(now, time[1] * 1000000 + time[2])
end
