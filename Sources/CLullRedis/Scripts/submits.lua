-- What submits, flushes and cancellations make of a row, as in DurableRow+Submits.swift. Each begins with `settle`.
local flush_pending, join, pending_fell_due, make_ready, interrupt, put_back, replace_failed_run, absorb
-- Whether a run of a worker was interrupted.
local interrupts = false

local function settle(r)
    local due, edge = gate.settle(r)
    if due then pending_fell_due(r, due, edge) end
end

-- Returns when the value falls due; false if it was absorbed.
local function submit(r, value, wait, submitter)
    settle(r)
    r.generation = max(r.generation + 1, now)
    r.span, r.spacing = n.span, n.spacing
    local decision = gate.submit(r, wait)
    if decision == JOIN then
        join(r, value, submitter)
        if n.restart == 'submitted' then interrupt(r, now) end
        return gate.due(r)
    elseif decision == COMPLETE then
        join(r, value, submitter)
        pending_fell_due(r, now, MAX_COUNT)
        return now
    elseif decision == LEAD then
        make_ready(r, store(r, value), 1, now, now, LEADING)
        return now
    end
    absorb(r)
    return false
end

-- Returns whether the gate was open.
local function touch(r, wait)
    settle(r)
    return gate.touch(r, wait)
end

-- Makes what is pending, held or between two attempts ready now. Returns whether there was anything.
local function flush(r)
    local had = flush_pending(r)
    if is_held(r) then
        -- The spacing counts from here, as from any other flush.
        r.ready.due, r.ready.edge, r.latest, had = now, FLUSH, now, true
        gate.rest(r)
    end
    local run = r.run
    if run and not run.claimed and run.start > now then
        run.start, had = now, true
    end
    return had
end

flush_pending = function(r)
    settle(r)
    if not gate.flush(r) then return false end
    pending_fell_due(r, now, FLUSH)
    return true
end

-- Drops everything that no worker has. Returns the number of submits behind it.
local function cancel(r)
    settle(r)
    local count = 0
    local run, ready, pending = r.run, r.ready, r.pending
    if run and not run.claimed then
        count = run.count
        record_run(r, 'cancelled')
        r.run = false
    end
    if ready then
        count = count + ready.count
        record(r.key, 'cancelled', ready.from, ready.to)
        drop(r, ready.index, ready.count)
    end
    if pending then
        count = count + pending.count
        record(r.key, 'cancelled', (ready and ready.to or r.taken) + 1, r.generation)
        drop(r, pending.index, pending.count)
    end
    r.ready, r.taken = false, r.generation
    gate.close(r)
    return count
end

-- Drops what is pending. Returns the number of submits behind it.
local function cancel_pending(r)
    settle(r)
    local pending = r.pending
    if not pending then return 0 end
    drop(r, pending.index, pending.count)
    r.next_value = pending.index
    gate.close(r)
    if r.ready then
        r.ready.to = r.generation
    else
        record(r.key, 'cancelled', r.taken + 1, r.generation)
        r.taken = r.generation
    end
    return pending.count
end

-- Transitions.

-- Adds a value to what is pending, which the gate has counted.
join = function(r, value, submitter)
    local pending = r.pending
    if pending.count == 1 then
        pending.by, pending.index = submitter, store(r, value)
    else
        if pending.by ~= submitter then pending.by = '0' end
        if n.latest then
            add(stored, field(pending.index, r.key), value)
        elseif n.collect then
            store(r, value)
        end
    end
    pending.last = now
end

pending_fell_due = function(r, due, edge)
    local pending = r.pending
    r.pending = false
    make_ready(r, pending.index, pending.count, pending.first, due, edge)
end

-- A value becomes ready, alone or joined with what is ready already.
make_ready = function(r, index, count, first, due, edge)
    local ready = r.ready
    if ready then
        if n.latest then
            drop(r, ready.index, 1)
            ready.index = index
        elseif n.first then
            drop(r, index, 1)
        end
        ready.count, ready.to, ready.edge, ready.due = ready.count + count, r.generation, edge, min(ready.due, due)
    else
        r.ready = {
            from = r.taken + 1, to = r.generation, count = count, first = first, due = due, since = false, edge = edge,
            index = index
        }
    end
    interrupt(r, due)
    replace_failed_run(r)
end

-- Restarting, as in DurableRow+Restarting.swift.

-- A newer value was submitted or has fallen due: it marks a run that a worker has, and one between two attempts goes
-- back. A run behind which something has ended stays as it is.
interrupt = function(r, at)
    local run = r.run
    if not n.restart or not run or run.mark or run.to ~= r.taken then return end
    if not run.claimed then return put_back(r, at) end
    if n.throttles or plus(run.first, r.span) > at then run.mark, interrupts = at, true end
end

-- The values of a run go back: in front of what is ready or, if nothing is, as a held value. Those of `collect` are
-- next to each other.
put_back = function(r, at)
    local run, ready = r.run, r.ready
    if not ready then
        r.ready = {
            from = run.from, to = run.to, count = run.count, first = run.first, due = NEVER, since = false,
            edge = run.edge, index = run.index
        }
    else
        if n.latest then
            drop(r, run.index, 1)
        else
            if n.first then drop(r, ready.index, 1) end
            ready.index = run.index
        end
        ready.from, ready.first, ready.count = run.from, run.first, ready.count + run.count
        if ready.since then ready.since = at end
    end
    r.taken, r.run, restarted = run.from - 1, false, restarted + 1
end

-- If only the latest value counts, one that is ready replaces a failed run that waits for another attempt.
replace_failed_run = function(r)
    local run = r.run
    if not (n.latest and r.ready and run and not run.claimed and run.error) then return end
    record_run(r, 'failed')
    r.run = false
end

absorb = function(r)
    if r.ready then
        r.ready.to = r.generation
    else
        record(r.key, 'absorbed', r.taken + 1, r.generation)
        r.taken = r.generation
    end
end
