// The calls of workers, and those about dead runs.
extension Scripts {
    /// The parts that deaths need, in the script for workers and in that for dead runs.
    static let deaths = #"""
        -- Moves the run of a row to the dead ones, with its values.
        local function die(r)
            local run = r.run
            record(r.key, 'dead', run.from, run.to, run, run.error)
            add(recorded, 'd' .. digits(run.id), pack({ r.key, now, run }))
            add(died, digits(now), digits(run.id))
            r.run = false
        end
        """#

    static let work = #"""
        -- Records a worker's reports, each as a step of its own, and then hands out runs.
        --
        -- ARGV[2]: the worker. ARGV[3]: how many runs it takes at most, or '' if it claims none; ARGV[4]: its lease; ARGV[5]: how many
        -- attempts a run has; ARGV[6]: how many runs it has, and then their ids. Then six for each report: key, run, fence, kind, span,
        -- error. kind: heartbeat, completed, failed or released; span: the new lease, or after how long a failed run is tried again, ''
        -- if it is not.
        --
        -- Answers with a list of 0 (recorded), 1 (recorded before) or 2 (the lease was lost) for the reports; the runs; the runs that died
        -- instead; the instant of the call; and the first instant at which there may be more to claim, or nil.
        local owner, limit = ARGV[2], tonumber(ARGV[3])
        local lease, max_attempts, held = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
        local first_report = 7 + held

        local function end_attempt(r, start)
            r.run.claimed, r.run.start = false, start
            replace_failed_run(r)
        end

        -- Without `start`, that was the last attempt.
        local function fail(r, error, start)
            r.run.error = error
            if start then return end_attempt(r, start) end
            die(r)
            if r.ready and r.ready.since then r.ready.since = now end
        end

        local function report(key, id, fence, kind, span, error)
            local r = rows[key]
            if r then settle(r) end
            local run = r and r.run
            if not run or run.id ~= id or run.fence ~= fence or run.owner ~= owner then
                return not (run and run.id == id) and has_ended(key, id) and 1 or 2
            end
            if not run.claimed then return (kind == 'failed' or kind == 'released') and 1 or 2 end
            if kind == 'heartbeat' then
                run.start = plus(now, span)
            elseif kind == 'completed' then
                end_run(r, 'completed')
                if r.ready and r.ready.since then r.ready.since = now end
            elseif kind == 'failed' then
                fail(r, error, span and plus(now, span))
            else
                run.attempt = run.attempt - 1
                end_attempt(r, now)
            end
            return 0
        end

        -- The next run of a row, which may start. There is none if it has died instead.
        local function claim(r)
            local run = r.run
            if run then
                run.fence = next_fence()
                run.attempt = run.attempt + 1
            else
                local ready = r.ready
                if not ready then return end
                local id = next_fence()
                run = {
                    from = ready.from, to = ready.to, count = ready.count, first = ready.first, due = ready.due, edge = ready.edge,
                    index = ready.index, id = id, fence = id, attempt = 1, error = false
                }
                if n.collect and n.max_batch and ready.count > n.max_batch then
                    -- The rest begins with the number of its first value.
                    local rest = call('HGET', VALUES, field(ready.index + n.max_batch, r.key))
                    ready.from = struct.unpack('>I8', rest)
                    run.to, run.count = ready.from - 1, n.max_batch
                    ready.index, ready.count, ready.since = ready.index + n.max_batch, ready.count - n.max_batch, now
                else
                    r.ready = false
                end
                r.run, r.taken = run, run.to
            end
            run.owner, run.claimed, run.start = owner, true, plus(now, lease)
            return run
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
        local room = limit or 0
        local offset, exhausted, last = 0, false, 0

        if limit then
            -- What is leased to this worker without its knowing: the answer was lost.
            local known = {}
            for i = 7, 6 + held do known[tonumber(ARGV[i])] = true end
            local mine = {}
            for _, member in ipairs(call('ZRANGEBYLEX', HELD, '[' .. owner .. ':', '(' .. owner .. ';')) do
                add(mine, string.sub(member, #owner + 2))
            end
            load(mine)
            for _, key in ipairs(mine) do
                local run = rows[key] and rows[key].run
                if run and run.claimed and run.owner == owner and not known[run.id] then
                    run.fence, run.start = next_fence(), plus(now, lease)
                    add(runs, { key, run })
                    room = room - 1
                end
            end
        end

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
        while room > 0 and not exhausted do
            local found = call('ZRANGEBYSCORE', DUE, '-inf', digits(now), 'WITHSCORES', 'LIMIT', offset, room)
            local size = #found / 2
            offset, exhausted = offset + size, size < room
            local certain = exhausted and now or tonumber(found[#found])
            local keys = {}
            for i = 1, #found, 2 do add(keys, found[i]) end
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
                if room == 0 or one[2] > certain then
                    add(later, one)
                else
                    if r.run and r.run.claimed then
                        lost = lost + 1
                        if r.run.attempt >= max_attempts then add(dead, described(r.key, r.run)) end
                        fail(r, "the worker's lease expired", r.run.attempt < max_attempts and now)
                    end
                    local run = claim(r)
                    if run then
                        add(runs, { r.key, run })
                        room, begun = room - 1, begun + 1
                    elseif r.ready then
                        add(later, { r, r.ready.since or r.ready.due })
                    end
                end
            end
            startable = later
        end

        local handed = {}
        for _, one in ipairs(runs) do
            local answer = described(one[1], one[2])
            answer[11] = values(one[1], one[2])
            add(handed, answer)
        end
        attempts, lost_leases = attempts + begun, lost_leases + lost
        save(true)
        local next = call('ZRANGE', DUE, 0, 0, 'WITHSCORES')
        return { answers, handed, dead, digits(now), next[2] ~= 'inf' and next[2] }
        """#

    static let dead = #"""
        -- Retries or discards a dead run. ARGV[2]: retry or discard; ARGV[3]: the run.
        --
        -- Answers with accepted, notFound, outdated or busy.
        local id = ARGV[3]
        local packed = call('HGET', PAST, 'd' .. id)
        if not packed then return 'notFound' end
        local key, _, run = unpack(unpacked(packed))
        load({ key })
        load_ends({ key })
        local r = rows[key]
        if r then settle(r) end
        if ARGV[2] == 'retry' then
            if n.latest then
                if r and r.generation > max(r.born, run.to) then return 'outdated' end
                for _, e in ipairs(ends[key]) do
                    if e[3] > run.to then return 'outdated' end
                end
            end
            if r and r.run then return 'busy' end
            r = row(key)
            run.attempt, run.error, run.claimed, run.start = 0, false, false, now
            r.run = run
        else
            drop({ key = key }, run.index, run.count)
        end
        local list = changed_ends(key)
        for i = #list, 1, -1 do
            if list[i][1] == 'dead' and list[i][5] == run.id then table.remove(list, i) end
        end
        add(forgotten, 'd' .. id)
        add(revived, id)
        save(false)
        return 'accepted'
        """#
}
