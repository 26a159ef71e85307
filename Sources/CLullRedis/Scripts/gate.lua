-- The gate of a key, as in Gate.swift: the same names, in the same order, with the same comments where one is needed.
--
-- A gate is a part of a row `r`: its phase; `quiet`, when it closes if nothing more is submitted; `latest`, when a
-- value was due last, or false; `span` and `spacing`, by the rules at its newest submit; and of what is pending
-- `first`, the instant of the first submit, and `count`. `n` are the rules of the namespace.
local gate = {}

-- When what is pending falls due, if nothing more is submitted.
function gate.due(r)
    if n.throttles then return r.quiet end
    if r.phase == FULL then return gate.next(r) end
    return max(gate.next(r), min(r.quiet, plus(r.pending.first, r.span)))
end

-- The earliest instant at which the spacing lets another value fall due.
function gate.next(r)
    return r.latest and plus(r.latest, r.spacing) or 0
end

-- The first instant at which the gate changes by itself, nil if it is idle: what is pending falls due, or the gate
-- stops being open or resting.
function gate.next_change(r)
    if r.phase == IDLE then return nil end
    if r.phase == RESTING then return gate.next(r) end
    return r.pending and gate.due(r) or r.quiet
end

-- Does what was due by now. Returns when what was pending fell due, and by which edge; nil if nothing did.
function gate.settle(r)
    local due = gate.next_change(r)
    if not due or due > now then return nil end
    if not r.pending then return gate.rest(r) end
    local edge = r.phase == FULL and MAX_COUNT or due >= r.quiet and TRAILING or MAX_WAIT
    gate.fall_due(r, due)
    if n.throttles then r.quiet = plus(due, r.span) end
    if r.quiet <= now or n.ends_with_execution then gate.rest(r) end
    return due, edge
end

-- What is pending falls due; the caller takes it.
function gate.fall_due(r, due)
    r.latest, r.phase = due, OPEN
end

-- The gate stops being open. Nothing is pending.
function gate.rest(r)
    if gate.next(r) > now then
        r.phase = RESTING
    else
        r.phase, r.latest = IDLE, false
    end
end

-- A submit. Returns what becomes of it: JOIN what is pending; LEAD, which is due now; COMPLETE what is pending, which
-- is due now; or ABSORB it.
function gate.submit(r, wait)
    if n.throttles then return gate.throttle(r) end
    return gate.debounce(r, wait)
end

function gate.debounce(r, wait)
    local was_open = r.phase >= OPEN
    local quiet = plus(now, max(wait or n.wait, 0))
    r.quiet = was_open and n.extends and max(r.quiet, quiet) or quiet
    if not was_open then
        r.phase = OPEN
        if n.leading and now >= gate.next(r) then
            r.latest = now
            return LEAD
        end
    end
    if n.trailing then return gate.join(r) end
    if n.max_wait and (not r.latest or now >= plus(r.latest, n.max_wait)) then
        r.latest = now
        return LEAD
    end
    return ABSORB
end

function gate.throttle(r)
    if r.phase < OPEN then
        r.quiet, r.phase = plus(now, n.wait), OPEN
        if n.leading then
            r.latest = now
            return LEAD
        end
    end
    return n.trailing and gate.join(r) or ABSORB
end

function gate.join(r)
    if not r.pending then r.pending = { count = 0, first = now } end
    r.pending.count = r.pending.count + 1
    if r.pending.count < n.max_count and r.phase ~= FULL then return JOIN end
    if now < gate.next(r) then
        r.phase = FULL
        return JOIN
    end
    gate.fall_due(r, now)
    if n.ends_with_execution then gate.rest(r) end
    return COMPLETE
end

-- Does to the gate what a submit would, without a value. Returns whether it is open.
function gate.touch(r, wait)
    if n.throttles or r.phase < OPEN then return false end
    local quiet = plus(now, max(wait or n.wait, 0))
    r.quiet = n.extends and max(r.quiet, quiet) or quiet
    return true
end

-- What is pending falls due now, and the gate rests. Returns whether anything was pending.
function gate.flush(r)
    if r.phase == IDLE then return false end
    if r.pending then gate.fall_due(r, now) end
    gate.rest(r)
    return r.pending and true
end

-- The gate forgets what is pending, and rests.
function gate.close(r)
    r.pending = false
    gate.rest(r)
end
