// The calls of producers.
extension Scripts {
    static let submit = #"""
        -- Records submits, in their order, each with an answer of its own.
        --
        -- ARGV[2], ARGV[3]: the number of a client and of its batch, or '' and ''. A batch that is repeated is answered as the first time;
        -- it must be the latest one of this client in this shard.
        -- Then five for each submit: key, value, a wait in microseconds or '' for that of the namespace, a token or '', the number of the
        -- submitter or ''.
        --
        -- Answers with four for each submit: 0, or 1 if the token was used with another key; the submit's number; when the value falls due,
        -- and in how many microseconds, or nil if the submit was absorbed.

        local function submit(r, value, wait, submitter)
            settle(r)
            r.generation = max(r.generation + 1, now)
            r.span, r.spacing = n.span, n.spacing
            local was_open, leads = r.phase >= OPEN, false
            if not n.throttles then
                local quiet = plus(now, max(wait or n.wait, 0))
                r.quiet = was_open and n.extends and max(quiet, r.quiet) or quiet
                leads = n.leading and not was_open and may_fall_due(r, n.spacing)
                    or not n.trailing and was_open and n.max_wait and may_fall_due(r, n.span)
            elseif not was_open then
                r.quiet, leads = plus(now, n.wait), n.leading
            end
            if not was_open then r.phase = OPEN end

            if leads then
                r.latest = now
                make_ready(r, store(r, value), 1, now, now, LEADING)
                return now
            end
            if not n.trailing then
                if r.ready then
                    r.ready.to = r.generation
                else
                    record(r.key, 'absorbed', r.taken + 1, r.generation)
                    r.taken = r.generation
                end
                return false
            end

            local pending = r.pending
            if not pending then
                pending = { count = 0, first = now, by = submitter, index = store(r, value) }
                r.pending = pending
            else
                if pending.by ~= submitter then pending.by = '0' end
                if n.latest then
                    add(stored, field(pending.index, r.key), value)
                elseif n.collect then
                    store(r, value)
                end
            end
            pending.last, pending.count = now, pending.count + 1
            if r.phase == FULL or n.max_count and pending.count >= n.max_count then
                if may_fall_due(r, n.spacing) then
                    fall_due(r, now, MAX_COUNT)
                    if not n.throttles and not n.leading then rest(r) end
                    return now
                end
                r.phase = FULL
            end
            return next_change(r)
        end

        local client, batch = ARGV[2], ARGV[3]
        local repeated = client ~= '' and call('HGET', PAST, 'b' .. client)
        if repeated then
            repeated = unpacked(repeated)
            if repeated[1] == batch then return repeated[3] end
        end

        local keys, tokens = {}, {}
        for i = 4, #ARGV, 5 do
            if ARGV[i] == SENTINEL then return redis.error_reply('ERR this key is not available') end
            if #ARGV[i] > 1024 then return redis.error_reply('ERR a key has at most 1024 bytes') end
            add(keys, ARGV[i])
            if ARGV[i + 3] ~= '' then tokens[ARGV[i + 3]] = false end
            if ARGV[i + 2] ~= '' and not tonumber(ARGV[i + 2]) then
                return redis.error_reply('ERR a wait is a number of microseconds')
            end
        end
        if #ARGV < 8 or (#ARGV - 3) % 5 ~= 0 then
            return redis.error_reply('ERR a submit has five arguments: key, value, wait, token, submitter')
        end
        load(keys)
        for token in pairs(tokens) do
            local packed = call('HGET', PAST, 't' .. token)
            tokens[token] = packed and unpacked(packed)
        end

        local answers, wakes = {}, false
        for i = 4, #ARGV, 5 do
            local key, token = ARGV[i], ARGV[i + 3]
            local first = token ~= '' and tokens[token]
            local status, number, due = 0, 0, false
            if first then
                status, number, due = first[1] == key and 0 or 1, first[2], first[3]
            else
                local r = row(key)
                local wake = r.wake or NEVER
                due = submit(r, ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 4] ~= '' and ARGV[i + 4])
                number = r.generation
                wakes = wakes or first_change(r) < min(wake, now + 1000000)
                if token ~= '' then
                    tokens[token] = { key, number, due }
                    add(recorded, 't' .. token, pack({ key, number, due, now }))
                    add(answered, digits(now), 't' .. token)
                end
            end
            local from = #answers
            answers[from + 1], answers[from + 2], answers[from + 3] = status, number, due
            answers[from + 4] = due and max(due - now, 0)
        end
        if client ~= '' then
            add(recorded, 'b' .. client, pack({ batch, now, answers }))
            if not repeated then add(answered, digits(now), 'b' .. client) end
        end
        -- A hint to workers that wait: without the right to give it, they look by themselves, every second.
        if wakes then redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '') end
        save(false)
        return answers
        """#

    static let change = #"""
        -- Flushes or cancels keys. ARGV[2]: flush, cancel, or flushOwn, cancelOwn for what comes from one submitter alone; ARGV[3]: that
        -- submitter; then the keys.
        --
        -- Answers with the number of keys flushed or of submits cancelled; the number of keys whose pending value comes from several
        -- submitters; and for each key of flushOwn that was flushed the key and its newest submit's number.
        local what, submitter = ARGV[2], ARGV[3]
        local keys = { unpack(ARGV, 4) }
        load(keys)
        local count, mixed, flushed = 0, 0, {}
        for _, key in ipairs(keys) do
            local r = rows[key]
            if r then
                settle(r)
                if what == 'flush' then
                    local had = flush_pending(r)
                    if r.run and not r.run.claimed and r.run.start > now then
                        r.run.start, had = now, true
                    end
                    if had then count = count + 1 end
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
        """#
}
