-- Allows starts of runs, of all shards together, or takes back some that were not used: on the first shard.
--
-- ARGV[2]: how many at most, or less than 0 for as many taken back; ARGV[3]: for these, what came with the answer that
-- allowed them.
--
-- Answers with how many may start now; with the instant of the call; with that from which more may, or nil; and with
-- what is to be given when some are taken back. Without a limit as many may start as were asked for.
local limit = unpacked(rules)
local starts, period, burst = limit[12], limit[13], limit[14]
local most = tonumber(ARGV[2])
if not starts then return { max(most, 0), digits(now), false, '' } end
-- In a pause nothing starts, and nothing of the limit is used.
if pause and most >= 0 then return { 0, digits(now), false, '' } end

-- The time between two starts in the long run, rounded up; and when the next would come if all so far had come so.
local interval = period >= NEVER and NEVER or math.ceil(period / (starts - burst + 1))
local stored = tonumber(call('HGET', META, 'arrival') or 0)
-- It is never later than after a burst that starts now, unless the limit was another one.
local before = min(stored, now + burst * interval)
local arrival = before
local allowed = 0
if most >= 0 then
    while allowed < most and arrival < NEVER and now >= arrival - (burst - 1) * interval do
        arrival = min(max(arrival, now) + interval, NEVER)
        allowed = allowed + 1
    end
else
    -- Only if none has been allowed since: they were counted before those.
    local first, base, last, count = string.match(ARGV[3], '^(%d+) (%d+) (%d+) (%d+)$')
    if digits(stored) == last then
        local used = tonumber(count) + most
        arrival = used > 0 and min(tonumber(base) + used * interval, NEVER) or tonumber(first)
    end
end
if arrival ~= stored then
    call('HSET', META, 'arrival', digits(arrival))
    -- The instant must not be behind that of a later call.
    numbers = unpacked(numbers)
    numbers[3] = now
    call('HSET', META, 'numbers', pack(numbers))
end
local next = arrival < NEVER and arrival - (burst - 1) * interval or NEVER
return {
    allowed, digits(now), next > now and digits(next),
    table.concat({ digits(before), digits(max(before, now)), digits(arrival), allowed }, ' ')
}
