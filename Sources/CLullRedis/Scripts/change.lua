-- Flushes, cancels or touches keys. ARGV[2]: flush, cancel, touch, or flushOwn, cancelOwn for what comes from one
-- submitter alone; ARGV[3]: that submitter, or for a touch a wait in microseconds, or ''; then the keys.
--
-- Answers with the number of keys flushed, of submits cancelled, or of keys whose gate was open; the number of keys
-- whose pending value comes from several submitters; and for each key of flushOwn that was flushed the key and its
-- newest submit's number.
local what, submitter = ARGV[2], ARGV[3]
local keys = { unpack(ARGV, 4) }
load(keys)
local count, mixed, flushed, wakes = 0, 0, {}, false
for _, key in ipairs(keys) do
    local r = rows[key]
    if r then
        local wake = r.wake
        settle(r)
        if what == 'flush' then
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
