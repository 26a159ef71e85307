-- The rows of a shard, how ranges of their submits have ended, and how both are written.

-- What is to be written at the end.
local removed, stored, dropped, recorded, forgotten, ended, answered, died, revived = {}, {}, {}, {}, {}, {}, {}, {}, {}

local function add(list, a, b)
    list[#list + 1] = a
    if b then list[#list + 1] = b end
end

-- The hash of values has a field for each: its index and its key.
local function field(index, key)
    return digits(index) .. ':' .. key
end

-- Values of `collect` have the number of their submit before them.
local function store(r, value)
    local index = r.next_value
    r.next_value = index + 1
    if n.collect then value = struct.pack('>I8', r.generation) .. value end
    add(stored, field(index, r.key), value)
    return index
end

local function drop(r, index, count)
    for i = index, index + (n.collect and count or 1) - 1 do add(dropped, field(i, r.key)) end
end

-- Counts, so that nobody has to read all rows: how many keys are pending, ready, running and retrying; `due` are
-- those that are pending with nothing ready, `replaced` those that are pending beside a failed run. A row is counted
-- as it is stored, in the period in which it wakes, for nothing is written when time passes.

-- Whether what is ready is held: it has no due instant, and joins the next value that falls due.
local function is_held(r)
    return r.ready and r.ready.due == NEVER
end

-- What a row has, as a sum: 1 something pending, 2 ready, 4 a run, 8 one that waits for another attempt, 16 one that
-- has failed, 32 something held, which counts as pending.
local function kinds(r)
    local run = r.run
    return (r.pending and 1 or 0) + (is_held(r) and 32 or r.ready and 2 or 0)
        + (run and (run.claimed and 4 or run.error and 16 or 8) or 0)
end

local function names_of(kinds)
    local is_pending, is_ready = kinds % 2 == 1 or kinds >= 32, kinds % 4 >= 2
    local is_failed = kinds % 32 >= 16
    return {
        pending = is_pending, ready = is_ready, running = kinds % 8 >= 4, retrying = kinds % 32 >= 8,
        due = kinds % 2 == 1 and not is_ready, replaced = is_pending and is_failed
    }
end

local function period(wake)
    return math.floor(wake / PERIOD)
end

-- Rows.

local rows, order = {}, {}

local function read(key, packed)
    local r = { key = key }
    r.born, r.generation, r.taken, r.phase, r.quiet, r.latest, r.span, r.spacing, r.wake, r.next_value, r.pending,
        r.ready, r.run = unpack(unpacked(packed))
    r.packed, r.was_held = packed, r.run and r.run.claimed and r.run.owner
    r.was_ready, r.were, r.was_in = r.ready and r.ready.due, kinds(r), period(r.wake)
    return r
end

-- Loads the rows of keys; those of idle keys are false.
local function load(keys)
    local missing = {}
    for _, key in ipairs(keys) do
        if rows[key] == nil then
            rows[key] = false
            add(missing, key)
        end
    end
    for start = 1, #missing, 1000 do
        local some = { unpack(missing, start, min(start + 999, #missing)) }
        for i, packed in ipairs(call('HMGET', ROWS, unpack(some))) do
            if packed then
                rows[some[i]] = read(some[i], packed)
                add(order, some[i])
            end
        end
    end
end

-- The row of a key, a new one if the key is idle.
local function row(key)
    local r = rows[key]
    if not r then
        base = max(base + 1, now)
        r = {
            key = key, born = base, generation = base, taken = base, phase = IDLE, quiet = 0, latest = false,
            span = n.span, spacing = n.spacing, wake = false, next_value = base + 1, pending = false, ready = false,
            run = false
        }
        rows[key] = r
        add(order, key)
    end
    return r
end

-- How ranges of a key's submits have ended.

local ends = {}

local function load_ends(keys)
    local missing = {}
    for _, key in ipairs(keys) do
        if not ends[key] then
            ends[key] = {}
            add(missing, key)
        end
    end
    for start = 1, #missing, 1000 do
        local fields = {}
        for i = start, min(start + 999, #missing) do add(fields, 'e' .. missing[i]) end
        for i, packed in ipairs(call('HMGET', PAST, unpack(fields))) do
            local key = missing[start + i - 1]
            if packed then
                ends[key] = unpacked(packed)
                ends[key].had = true
            end
        end
    end
end

local function changed_ends(key)
    load_ends({ key })
    ends[key].changed = true
    return ends[key]
end

-- Records the end of a range: how, its first and last submit, when, the first and the last of its runs, the fence,
-- the error. What continues the range before it in the same way becomes one with it.
local function record(key, how, first, last, run, error)
    local list = changed_ends(key)
    local latest = list[#list]
    if latest and latest[1] == how and latest[3] + 1 == first and (how == 'completed' or how == 'absorbed') then
        latest[3], latest[4] = last, now
        if run then latest[6], latest[7] = run.id, run.fence end
        return
    end
    local id = run and run.id or false
    add(list, { how, first, last, now, id, id, run and run.fence or false, error or false })
    for i = 1, #list - 64 do
        if list[i][1] ~= 'dead' then
            table.remove(list, i)
            break
        end
    end
end

-- Records the end of a row's run, and deletes its values.
local function record_run(r, how)
    local run = r.run
    record(r.key, how, run.from, run.to, run, run.error)
    drop(r, run.index, run.count)
end

local function has_ended(key, run)
    load_ends({ key })
    for _, e in ipairs(ends[key]) do
        if e[5] and e[5] <= run and run <= e[6] then return true end
    end
    return false
end

-- Writing. Nothing in here can fail: what it needs was read before.

local function change(command, key, list)
    for start = 1, #list, 2000 do call(command, key, unpack(list, start, min(start + 1999, #list))) end
end

local function first_change(r)
    local run, ready = r.run, r.ready
    local start = run and run.start or ready and (ready.since or ready.due) or NEVER
    return min(start, gate.next_change(r) or NEVER)
end

-- Writes everything. Only workers move the instant at which a row is found later.
local function save(is_worker)
    local written, waking, holding, released, named, readied, unreadied = {}, {}, {}, {}, {}, {}, {}
    local changes = {}
    local function count(kinds, where, sign)
        local there = changes[where]
        if not there then
            there = {}
            changes[where] = there
        end
        there[kinds] = (there[kinds] or 0) + sign
    end
    for _, key in ipairs(order) do
        local r = rows[key]
        local is, into = 0, false
        if r.phase == IDLE and not (r.pending or r.ready or r.run) then
            base = max(base, r.generation)
            if r.packed then add(removed, key) end
            rows[key] = false
        else
            if not r.packed then add(named, '0', key) end
            local wake = first_change(r)
            if r.wake and not is_worker then wake = min(wake, r.wake) end
            if wake ~= r.wake then add(waking, digits(wake), key) end
            r.wake = wake
            is, into = kinds(r), period(wake)
            local packed = pack({
                r.born, r.generation, r.taken, r.phase, r.quiet, r.latest, r.span, r.spacing, r.wake, r.next_value,
                r.pending, r.ready, r.run
            })
            if packed ~= r.packed then add(written, key, packed) end
        end
        if is ~= (r.were or 0) or r.were and into and into ~= r.was_in then
            if r.were then count(r.were, r.was_in, -1) end
            if into then count(is, into, 1) end
        end
        local ready = r.ready and r.ready.due
        if ready ~= (r.was_ready or false) then
            if ready then add(readied, digits(ready), key) else add(unreadied, key) end
        end
        local holds = r.run and r.run.claimed and r.run.owner
        if holds ~= (r.was_held or false) then
            if r.was_held then add(released, r.was_held .. ':' .. key) end
            if holds then add(holding, '0', holds .. ':' .. key) end
        end
    end
    local counts, counted, uncounted, differences = {}, {}, {}, {}
    for where, there in pairs(changes) do
        for kinds, difference in pairs(there) do
            for name, is in pairs(difference ~= 0 and names_of(kinds) or {}) do
                if is then
                    local field = digits(where) .. ':' .. name
                    differences[field] = (differences[field] or 0) + difference
                end
            end
        end
    end
    for field, difference in pairs(differences) do
        if difference ~= 0 then add(counts, field) end
    end
    for start = 1, #counts, 1000 do
        local some = { unpack(counts, start, min(start + 999, #counts)) }
        for i, number in ipairs(call('HMGET', META, unpack(some))) do
            local sum = (tonumber(number or '0') or 0) + differences[some[i]]
            if sum == 0 then add(uncounted, some[i]) else add(counted, some[i], digits(sum)) end
        end
    end
    for key, list in pairs(ends) do
        if list.changed then
            local had = list.had
            list.had, list.changed = nil, nil
            if #list > 0 then
                add(recorded, 'e' .. key, pack(list))
                if not had then add(ended, digits(list[1][4]), key) end
            elseif had then
                add(forgotten, 'e' .. key)
                call('ZREM', ENDED, key)
            end
        end
    end
    -- In this order, for a value that is stored and dropped by the same batch. No index is used twice in one.
    change('HSET', VALUES, stored)
    change('HDEL', VALUES, dropped)
    change('HDEL', ROWS, removed)
    change('ZREM', DUE, removed)
    change('HSET', ROWS, written)
    change('ZADD', DUE, waking)
    change('ZREM', HELD, released)
    change('ZADD', HELD, holding)
    change('HDEL', PAST, forgotten)
    change('HSET', PAST, recorded)
    change('ZADD', ENDED, ended)
    change('ZADD', ANSWERED, answered)
    change('ZREM', DEAD, revived)
    change('ZADD', DEAD, died)
    change('ZREM', NAMES, removed)
    change('ZADD', NAMES, named)
    change('ZREM', READY, unreadied)
    change('ZADD', READY, readied)
    change('HDEL', META, uncounted)
    add(counted, 'numbers', pack({
        base, fence, now, attempts, lost_leases, restarted, runs_begun, executed, failures
    }))
    change('HSET', META, counted)
end
