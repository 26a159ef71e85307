-- Answers with the instant, with the runs of a worker that newer values have interrupted, and with the first instant
-- at which another one may be if nothing is submitted, or nil. ARGV[2]: the worker. Nothing is written: the worker's
-- report does that.
local owner = ARGV[2]
local keys, runs, next = {}, {}, NEVER
for _, member in ipairs(call('ZRANGEBYLEX', HELD, '[' .. owner .. ':', '(' .. owner .. ';')) do
    add(keys, string.sub(member, #owner + 2))
end
load(n.restart and keys or {})
for _, r in pairs(rows) do
    if r then settle(r) end
    local run = r and r.run
    if run and run.mark and run.mark < NEVER then
        add(runs, digits(run.id))
    elseif run and not run.mark and r.pending then
        next = min(next, gate.due(r))
    end
end
return { digits(now), runs, next < NEVER and digits(next) }
