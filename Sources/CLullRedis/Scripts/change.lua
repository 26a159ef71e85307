-- Flushes or cancels keys. ARGV[2]: flush, cancel, or flushOwn, cancelOwn for what comes from one submitter alone;
-- ARGV[3]: that submitter; then the keys.
--
-- Answers with the number of keys flushed or of submits cancelled; the number of keys whose pending value comes from
-- several submitters; and for each key of flushOwn that was flushed the key and its newest submit's number.
local what, submitter = ARGV[2], ARGV[3]
local keys = { unpack(ARGV, 4) }
load(keys)
local count, mixed, flushed = 0, 0, {}
for _, key in ipairs(keys) do
    local r = rows[key]
    if r then
        settle(r)
        if what == 'flush' then
            if flush(r) then count = count + 1 end
        elseif what == 'cancel' then
            count = count + cancel(r)
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
save(false)
return { count, mixed, flushed }
