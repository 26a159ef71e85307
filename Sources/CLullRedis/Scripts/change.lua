-- Flushes, cancels or touches keys. ARGV[2]: flush, cancel, touch; flushOwn, cancelOwn for what comes from one
-- submitter alone; or flushSome, cancelSome for keys that meet conditions. ARGV[3]: that submitter; for a touch a wait
-- in microseconds; for flushSome and cancelSome how long ago, in microseconds, the oldest submit was whose value no
-- worker has; or ''. Then the keys; for flushSome and cancelSome, before them, a part of the error after which a run
-- waits for another attempt, or ''.
--
-- Answers with the number of keys flushed, of submits cancelled, or of keys whose gate was open; the number of keys
-- whose pending value comes from several submitters; and for each key of flushOwn that was flushed the key and its
-- newest submit's number.
local what, submitter = ARGV[2], ARGV[3]
local keys, age, failing = { unpack(ARGV, 4) }, false, ''
if what == 'flushSome' or what == 'cancelSome' then
    age, failing = tonumber(submitter), table.remove(keys, 1)
    what = string.sub(what, 1, -5)
end
load(keys)

local function is_selected(r)
    local waiting = r.run and not r.run.claimed and r.run
    if failing ~= '' and not (waiting and waiting.error and string.find(waiting.error, failing, 1, true)) then
        return false
    end
    if not age then return true end
    local first = min(
        r.pending and r.pending.first or NEVER, r.ready and r.ready.first or NEVER, waiting and waiting.first or NEVER)
    return first <= now - age
end

local count, mixed, flushed, wakes = 0, 0, {}, false
for _, key in ipairs(keys) do
    local r = rows[key]
    if r then
        local wake = r.wake
        settle(r)
        if not is_selected(r) then
            -- It has changed since it was selected.
        elseif what == 'flush' then
            if flush(r) then count = count + 1 end
        elseif what == 'cancel' then
            count = count + cancel(r)
        elseif what == 'touch' then
            if touch(r, tonumber(submitter)) then count = count + 1 end
            wakes = wakes or first_change(r) < min(wake, now + 1000000)
        elseif r.pending and r.pending.by == '0' then
            mixed = mixed + 1
        elseif r.pending and r.pending.by == submitter then
            if what == 'flushOwn' then
                flush_pending(r)
                add(flushed, key, digits(r.generation))
            else
                count = count + cancel_pending(r)
            end
        end
    end
end
if wakes or interrupts then redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '') end
save(false)
return { count, mixed, flushed }
