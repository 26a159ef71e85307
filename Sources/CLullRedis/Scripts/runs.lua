-- What workers make of a row, as in DurableRow+Runs.swift. All but a claim concern a run that the worker holds.
local fail, remove_run, divide
-- Whether the values of a run that a worker has go back unless it completes.
local function goes_back(r)
    local run = r.run
    return run.mark and run.mark < NEVER and run.to == r.taken
end

-- Puts the values of an interrupted run back. Returns whether they go back: what cannot, since what came after it was
-- cancelled, goes on alone.
local function put_back_interrupted(r)
    if goes_back(r) then
        put_back(r, now)
        return true
    end
    if r.run.mark then r.run.mark = NEVER end
    return false
end

local LEASE_EXPIRED = "the worker's lease expired"

-- Hands the next run to a worker, if one may start. Returns whether one does; a run that has died instead is not.
local function claim(r, worker, lease, max_attempts)
    settle(r)
    if r.run and r.run.claimed then fail(r, LEASE_EXPIRED, r.run.attempt < max_attempts and now) end
    local run, ready = r.run, r.ready
    if run then
        run.fence, run.attempt = next_fence(), run.attempt + 1
    elseif ready and (ready.since or ready.due) <= now then
        local id = next_fence()
        run = {
            from = ready.from, to = ready.to, count = ready.count, first = ready.first, due = ready.due,
            edge = ready.edge, index = ready.index, id = id, fence = id, attempt = 1, error = false, mark = false
        }
        r.ready = n.collect and n.max_batch and ready.count > n.max_batch and divide(r, run)
        r.run, r.taken = run, run.to
    else
        return false
    end
    run.owner, run.claimed, run.start, run.began = worker, true, plus(now, lease), now
    return true
end

local function hand_out_again(r, lease)
    r.run.fence, r.run.start, r.run.began = next_fence(), plus(now, lease), now
end

local function heartbeat(r, lease)
    r.run.start = plus(now, lease)
end

local function complete(r)
    record_run(r, 'completed')
    remove_run(r)
end

-- Moves a run to the dead ones, with its values.
local function bury(r)
    local run = r.run
    record(r.key, 'dead', run.from, run.to, run, run.error)
    add(recorded, 'd' .. digits(run.id), pack({ r.key, now, run }))
    add(died, digits(now), digits(run.id))
end

-- With `start`, the run is tried again then; without, that was its last attempt.
fail = function(r, error, start)
    if put_back_interrupted(r) then return end
    r.run.error = error
    if start then
        r.run.claimed, r.run.start = false, start
        replace_failed_run(r)
    else
        bury(r)
        remove_run(r)
    end
end

local function release(r)
    if put_back_interrupted(r) then return end
    local run = r.run
    run.attempt, run.claimed, run.start = run.attempt - 1, false, now
    replace_failed_run(r)
end

remove_run = function(r)
    r.run = false
    if r.ready and r.ready.since then r.ready.since = now end
end

-- Leaves a run the first values of what is ready, and returns the rest.
divide = function(r, run)
    local rest = r.ready
    rest.index, rest.count, rest.since = rest.index + n.max_batch, rest.count - n.max_batch, now
    -- It begins with the number of its first value.
    rest.from = struct.unpack('>I8', call('HGET', VALUES, field(rest.index, r.key)))
    run.to, run.count = rest.from - 1, n.max_batch
    return rest
end

-- Gives a dead run another series of attempts. Returns accepted, or why not.
local function retry(key, dead)
    local r = rows[key]
    if n.latest then
        if r and r.generation > max(r.born, dead.to) then return 'outdated' end
        for _, e in ipairs(ends[key]) do
            if e[3] > dead.to then return 'outdated' end
        end
    end
    if r and r.run then return 'busy' end
    dead.attempt, dead.error, dead.claimed, dead.start, dead.began = 0, false, false, now, false
    -- Its range is older than others, and cannot be merged with them.
    dead.mark = n.restart and NEVER or false
    row(key).run = dead
    return 'accepted'
end
