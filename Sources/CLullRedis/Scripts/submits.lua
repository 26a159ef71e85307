-- What submits, flushes and cancellations make of a row, as in DurableRow+Submits.swift. Each begins with `settle`.
local flush_pending, join, pending_fell_due, make_ready, replace_failed_run, absorb

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

-- Makes what is pending or between two attempts ready now. Returns whether there was anything.
local function flush(r)
    local had = flush_pending(r)
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
        ready.count, ready.to, ready.edge = ready.count + count, r.generation, edge
    else
        r.ready = {
            from = r.taken + 1, to = r.generation, count = count, first = first, due = due, since = false, edge = edge,
            index = index
        }
    end
    replace_failed_run(r)
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
