-- Records a worker's reports, each as a step of its own, and then hands out runs.
--
-- ARGV[2]: the worker. ARGV[3]: how many runs it takes at most, or '' if it claims none; ARGV[4]: its lease; ARGV[5]:
-- how many attempts a run has; ARGV[6]: how many runs may start, as `starts` has answered, or '' where the namespace
-- has no limit; ARGV[7]: how many runs it has, and then their ids. Then six for each report: key, run, fence, kind,
-- span, error. kind: heartbeat, completed, failed, released or interrupted; span: the new lease, or after how long a
-- failed run is tried again, '' if it is not.
--
-- Answers with a list of 0 (recorded), 1 (recorded before), 2 (the lease was lost) or 4 (a recorded heartbeat of a run
-- that a newer value has interrupted) for the reports; the runs; the runs that died instead; the instant of the call;
-- the first instant at which there may be more to claim, or nil; the pause of the namespace, in which there are no
-- runs, or nil; and whether the namespace has a limit, so that nothing starts that `starts` has not allowed.
local owner, limit = ARGV[2], tonumber(ARGV[3])
local lease, max_attempts, allowed, held = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local first_report = 8 + held

local function report(key, id, fence, kind, span, error)
    local r = rows[key]
    if r then settle(r) end
    local run = r and r.run
    if not run or run.id ~= id or run.fence ~= fence or run.owner ~= owner then
        return not (run and run.id == id) and has_ended(key, id) and 1 or 2
    end
    if not run.claimed then return (kind == 'failed' or kind == 'released' or kind == 'interrupted') and 1 or 2 end
    if kind == 'heartbeat' then
        heartbeat(r, span)
        if run.mark and run.mark < NEVER then return 4 end
    elseif kind == 'completed' then
        complete(r)
    elseif kind == 'failed' then
        -- A run that was interrupted is counted as that.
        if not goes_back(r) then failures = failures + 1 end
        fail(r, error, span and plus(now, span))
    else
        release(r)
    end
    return 0
end

local function described(key, run)
    return {
        key, digits(run.id), digits(run.fence), digits(run.from), digits(run.to), run.count, run.edge, digits(run.due),
        digits(run.first), run.attempt
    }
end

-- The values of a run, as they were before this script.
local function values(key, run)
    local found = {}
    local count = n.collect and run.count or 1
    for start = 0, count - 1, 1000 do
        local fields = {}
        for i = start, min(start + 999, count - 1) do add(fields, field(run.index + i, key)) end
        for _, value in ipairs(call('HMGET', VALUES, unpack(fields))) do
            add(found, n.collect and string.sub(value, 9) or value)
        end
    end
    return found
end

-- Reports.
local reported, answers = {}, {}
for i = first_report, #ARGV, 6 do add(reported, ARGV[i]) end
load(reported)
load_ends(reported)
for i = first_report, #ARGV, 6 do
    add(answers, report(
        ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3], tonumber(ARGV[i + 4]), ARGV[i + 5]))
end

-- Claims.
local runs, dead, lost, begun = {}, {}, 0, 0
if pause then limit = nil end
local room = limit or 0
local offset, exhausted, last = 0, false, 0

if limit then
    -- What is leased to this worker without its knowing: the answer was lost.
    local known = {}
    for i = 8, 7 + held do known[tonumber(ARGV[i])] = true end
    local mine = {}
    for _, member in ipairs(call('ZRANGEBYLEX', HELD, '[' .. owner .. ':', '(' .. owner .. ';')) do
        add(mine, string.sub(member, #owner + 2))
    end
    load(mine)
    for _, key in ipairs(mine) do
        local run = rows[key] and rows[key].run
        if run and run.claimed and run.owner == owner and not known[run.id] then
            hand_out_again(rows[key], lease)
            add(runs, { key, run })
            room = room - 1
        end
    end
end

-- A call that is sent again hands out again what its lost answer had: that has used up as many.
if n.starts then room = min(room, (allowed or 0) - #runs) end
-- How many more runs workers may have, and when the next lease ends.
local slots = n.max_running and n.max_running - call('ZCARD', HELD) + 1 or NEVER
local next_end = NEVER

-- Rows are found by an instant that may be too early. Their order is certain up to that of the last one that was found.
local startable = {}
local function note(r)
    settle(r)
    local start = r.run and r.run.start or r.ready and (r.ready.since or r.ready.due)
    if start and start <= now then add(startable, { r, start }) end
end
-- What the reports have left to start is among them, though it may not be found.
if room > 0 then
    for _, key in ipairs(reported) do
        if rows[key] and not rows[key].noted then
            rows[key].noted = true
            note(rows[key])
        end
    end
end
local function start(keys, certain)
    load(keys)
    for _, key in ipairs(keys) do
        if rows[key] and not rows[key].noted then
            rows[key].noted = true
            note(rows[key])
        end
    end
    table.sort(startable, function(a, b)
        if a[2] ~= b[2] then return a[2] < b[2] end
        return a[1].born < b[1].born
    end)
    local later = {}
    for _, one in ipairs(startable) do
        local r = one[1]
        local was_claimed = r.run and r.run.claimed
        if room == 0 or one[2] > certain or slots <= 0 and not was_claimed then
            add(later, one)
        else
            if was_claimed then
                lost = lost + 1
                if r.run.attempt >= max_attempts and not goes_back(r) then add(dead, described(r.key, r.run)) end
            end
            if claim(r, owner, lease, max_attempts) then
                add(runs, { r.key, r.run })
                room, begun, next_end = room - 1, begun + 1, min(next_end, r.run.start)
                -- Each later claim of a run has a later fence.
                if r.run.fence == r.run.id then runs_begun, executed = runs_begun + 1, executed + r.run.count end
                if not was_claimed then slots = slots - 1 end
            else
                if was_claimed then slots = slots + 1 end
                if r.ready then add(later, { r, r.ready.since or r.ready.due }) end
            end
        end
    end
    startable = later
end
while room > 0 and not exhausted do
    if slots <= 0 then
        -- Without a slot, what a worker has lost may still be taken over.
        local keys = {}
        for _, member in ipairs(call('ZRANGE', HELD, 0, -1)) do
            local colon = string.find(member, ':', 1, true)
            if colon then add(keys, string.sub(member, colon + 1)) end
        end
        start(keys, now)
        for _, key in ipairs(keys) do
            local run = rows[key] and rows[key].run
            if run and run.claimed and run.start > now then next_end = min(next_end, run.start) end
        end
        if slots <= 0 then break end
    end
    local size = min(room, slots)
    local found = call('ZRANGEBYSCORE', DUE, '-inf', digits(now), 'WITHSCORES', 'LIMIT', offset, size)
    offset, exhausted = offset + #found / 2, #found / 2 < size
    local keys = {}
    for i = 1, #found, 2 do add(keys, found[i]) end
    start(keys, exhausted and now or tonumber(found[#found]))
end

local handed = {}
for _, one in ipairs(runs) do
    local answer = described(one[1], one[2])
    answer[11] = values(one[1], one[2])
    add(handed, answer)
end
attempts, lost_leases = attempts + begun, lost_leases + lost
save(true)
local next = call('ZRANGE', DUE, 0, 0, 'WITHSCORES')[2]
-- For want of a slot: when a lease ends, or after a second, since nobody is told when a run of another worker ends.
if room > 0 and slots <= 0 and next ~= 'inf' then
    next = digits(max(tonumber(next), min(next_end, now + 1000000)))
end
return { answers, handed, dead, digits(now), not pause and next ~= 'inf' and next, pause, n.starts and 1 or 0 }
