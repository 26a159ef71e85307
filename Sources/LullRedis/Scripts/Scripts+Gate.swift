// The transitions of a row: those of `Gate` and `DurableRow` in the language of the server. None of these functions reads or writes.
extension Scripts {
    static let gate = #"""
        -- Whether the spacing allows a value to fall due now.
        local function may_fall_due(r, spacing)
            return not r.latest or now >= plus(r.latest, spacing)
        end

        -- The first instant at which a gate changes by itself: it makes what is pending due, or stops being open or resting.
        next_change = function(r)
            if r.phase == IDLE then return nil end
            if r.phase == RESTING or r.phase == FULL then return plus(r.latest, r.spacing) end
            if not r.pending or n.throttles then return r.quiet end
            local due = min(r.quiet, plus(r.pending.first, r.span))
            return r.latest and max(due, plus(r.latest, r.spacing)) or due
        end

        -- The gate stops being open. Nothing may be pending.
        local function rest(r)
            if r.latest and plus(r.latest, r.spacing) > now then
                r.phase = RESTING
            else
                r.phase, r.latest = IDLE, false
            end
        end

        -- Ends the run of a row.
        local function end_run(r, how)
            local run = r.run
            record(r.key, how, run.from, run.to, run, run.error)
            drop(r, run.index, run.count)
            r.run = false
        end

        -- Ends a failed run that waits for another attempt, if only the latest value counts and a newer one is ready.
        local function replace_failed_run(r)
            if n.latest and r.ready and r.run and not r.run.claimed and r.run.error then end_run(r, 'failed') end
        end

        -- The first submit that is neither ready nor taken.
        local function newest_from(r)
            return (r.ready and r.ready.to or r.taken) + 1
        end

        -- A value becomes ready, alone or joined with what is ready already.
        local function make_ready(r, index, count, first, due, edge)
            local ready = r.ready
            if not ready then
                r.ready = {
                    from = r.taken + 1, to = r.generation, count = count, first = first, due = due, since = false, edge = edge, index = index
                }
            else
                if n.latest then
                    drop(r, ready.index, 1)
                    ready.index = index
                elseif n.first then
                    drop(r, index, 1)
                end
                ready.count, ready.to, ready.edge = ready.count + count, r.generation, edge
            end
            replace_failed_run(r)
        end

        -- What is pending becomes ready at an instant.
        local function fall_due(r, due, edge)
            local pending = r.pending
            r.pending, r.latest, r.phase = false, due, OPEN
            make_ready(r, pending.index, pending.count, pending.first, due, edge)
        end

        -- Does what was due by now: at most one value becomes ready, at its due instant.
        local function settle(r)
            local due = next_change(r)
            if not due or due > now then return end
            if not r.pending then return rest(r) end
            fall_due(r, due, r.phase == FULL and MAX_COUNT or due >= r.quiet and TRAILING or MAX_WAIT)
            if n.throttles then r.quiet = plus(due, r.span) end
            if r.quiet <= now or not n.throttles and not n.leading then rest(r) end
        end

        -- Makes what is pending ready now, and the gate idle. Returns whether anything was pending.
        local function flush_pending(r)
            settle(r)
            local pending = r.pending
            if pending then fall_due(r, now, FLUSH) end
            if r.phase ~= IDLE then rest(r) end
            return pending and true or false
        end

        -- Drops what is pending, and makes the gate idle. Returns the number of submits behind it.
        local function cancel_pending(r)
            settle(r)
            local pending = r.pending
            if not pending then return 0 end
            drop(r, pending.index, pending.count)
            r.next_value = pending.index
            if r.ready then
                r.ready.to = r.generation
            else
                record(r.key, 'cancelled', r.taken + 1, r.generation)
                r.taken = r.generation
            end
            r.pending = false
            rest(r)
            return pending.count
        end

        -- Drops everything that no worker has, and makes the gate idle. Returns the number of submits behind it.
        local function cancel(r)
            settle(r)
            local count = 0
            local run, ready, pending = r.run, r.ready, r.pending
            if run and not run.claimed then
                count = run.count
                end_run(r, 'cancelled')
            end
            if ready then
                count = count + ready.count
                record(r.key, 'cancelled', ready.from, ready.to)
                drop(r, ready.index, ready.count)
            end
            if pending then
                count = count + pending.count
                record(r.key, 'cancelled', newest_from(r), r.generation)
                drop(r, pending.index, pending.count)
            end
            r.ready, r.pending, r.taken = false, false, r.generation
            if r.phase ~= IDLE then rest(r) end
            return count
        end
        """#
}
