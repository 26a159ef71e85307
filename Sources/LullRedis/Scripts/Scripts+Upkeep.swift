// Opening a namespace, looking at it, and forgetting.
extension Scripts {
    static let open = #"""
        -- Creates a shard of a namespace, or changes its durations and counts.
        --
        -- KEYS: the structures of the shard. ARGV: the number of the shard and of all shards; then kind, wait, max_wait, leading, trailing,
        -- extends, max_count, combination, max_batch, spacing: durations in microseconds, '' for none, '1' for true.
        --
        -- Answers with the number of all shards, and with the rules that the shard has: other ones than given if kind, edges or combination
        -- differ.
        local META = KEYS[1]
        local function number(text)
            return text ~= '' and tonumber(text)
        end
        local given = {
            ARGV[3] == 'throttle', number(ARGV[4]), number(ARGV[5]), ARGV[6] == '1', ARGV[7] == '1', ARGV[8] == '1', number(ARGV[9]),
            ARGV[10], number(ARGV[11]), number(ARGV[12])
        }
        local packed, place, version = unpack(redis.call('HMGET', META, 'rules', 'place', 'version'))
        if packed then
            if version ~= '\#(version)' then return redis.error_reply('VERSION ' .. version) end
            local rules = cmsgpack.unpack(packed)
            for _, i in ipairs({ 1, 4, 5, 8 }) do
                if rules[i] ~= given[i] then return { cmsgpack.unpack(place)[2], packed } end
            end
        else
            place = cmsgpack.pack({ tonumber(ARGV[1]), tonumber(ARGV[2]) })
        end
        for _, i in ipairs({ 2, 3, 6 }) do redis.call('HLEN', KEYS[i]) end
        for _, i in ipairs({ 4, 5, 7, 8, 9, 10, 11 }) do redis.call('ZCARD', KEYS[i]) end
        for _, i in ipairs({ 2, 3, 6 }) do redis.call('HSET', KEYS[i], '\255lull', '') end
        redis.call('ZADD', KEYS[4], '+inf', '\255lull')
        redis.call('ZADD', KEYS[5], '0', '\255lull')
        for _, i in ipairs({ 7, 8, 9, 11 }) do redis.call('ZADD', KEYS[i], '+inf', '\255lull') end
        -- All keys have this score, and are in the order of their bytes.
        redis.call('ZADD', KEYS[10], '0', '\255lull')
        packed = cmsgpack.pack(given)
        redis.call('HSETNX', META, 'numbers', cmsgpack.pack({ 0, tonumber(ARGV[1]), 0, 0, 0 }))
        redis.call('HSET', META, 'version', '\#(version)', 'rules', packed, 'place', place)
        return { cmsgpack.unpack(place)[2], packed }
        """#

    static let drop = #"""
        -- Deletes a shard that has no work and no dead runs. Answers with 1 if nothing is left of it, and with 0 if it has work.
        local version = redis.call('HGET', KEYS[1], 'version')
        if not version then return 1 end
        if version ~= '\#(version)' then return redis.error_reply('VERSION ' .. version) end
        local meta, work = redis.call('HGETALL', KEYS[1]), 0
        for i = 1, #meta, 2 do
            local name = string.match(meta[i], '^%d+:(%a+)$')
            if name == 'pending' or name == 'ready' or name == 'running' or name == 'retrying' then
                work = work + tonumber(meta[i + 1])
            end
        end
        -- The sentinel is no dead run.
        if work > 0 or redis.call('ZCARD', KEYS[9]) > 1 then return 0 end
        redis.call('UNLINK', unpack(KEYS))
        return 1
        """#

    static let look = #"""
        -- Answers with the instant, in microseconds; the shard's version, rules, place and numbers; the number of dead runs; and the row of a
        -- key, and how ranges of its submits have ended. ARGV[2]: the key; there may be none.
        local found = redis.call('HMGET', KEYS[1], 'version', 'rules', 'place', 'numbers')
        if not found[2] then
            return redis.error_reply('NOPOLICY the namespace has never been opened with a policy')
        end
        local time = redis.call('TIME')
        local now = ARGV[1] ~= '' and tonumber(ARGV[1]) or time[1] * 1000000 + time[2]
        now = math.max(now, cmsgpack.unpack(found[4])[3])
        local row, ends = false, false
        if ARGV[2] then
            row, ends = redis.call('HGET', KEYS[2], ARGV[2]), redis.call('HGET', KEYS[6], 'e' .. ARGV[2])
        end
        return {
            string.format('%.0f', now), found[1], found[2], found[3], found[4], redis.call('ZCARD', KEYS[9]), row, ends
        }
        """#

    static let count = #"""
        -- Answers with what is needed to count the keys of a shard. ARGV[2]: the most rows that it looks at.
        --
        -- The instant; the counts, each with the period and its name before it; the rows that have woken; if there are more, those that
        -- have woken in the present period, which is the last answer; before it, the oldest instant at which a ready value fell due.
        local numbers = redis.call('HGET', KEYS[1], 'numbers')
        if not numbers then
            return redis.error_reply('NOPOLICY the namespace has never been opened with a policy')
        end
        local time = redis.call('TIME')
        local now = ARGV[1] ~= '' and tonumber(ARGV[1]) or time[1] * 1000000 + time[2]
        now = math.max(now, cmsgpack.unpack(numbers)[3])
        local limit, period = tonumber(ARGV[2]), math.floor(now / 4194304)
        local function woken(from)
            local keys = redis.call('ZRANGEBYSCORE', KEYS[4], from, string.format('%.0f', now), 'LIMIT', 0, limit)
            return #keys > 0 and redis.call('HMGET', KEYS[2], unpack(keys)) or {}
        end
        local first = woken('-inf')
        local recent = #first >= limit and woken(string.format('%.0f', period * 4194304)) or false
        local oldest = redis.call('ZRANGE', KEYS[11], 0, 0, 'WITHSCORES')
        return {
            string.format('%.0f', now), redis.call('HGETALL', KEYS[1]), first, oldest[2] ~= 'inf' and oldest[2], recent,
            string.format('%.0f', period)
        }
        """#

    static let page = #"""
        -- Answers with some keys in the order of their bytes, and their rows. ARGV[2], ARGV[3]: the first and the last, as ZRANGEBYLEX takes
        -- them; ARGV[4]: the most.
        local keys = redis.call('ZRANGEBYLEX', KEYS[10], ARGV[2], ARGV[3], 'LIMIT', 0, tonumber(ARGV[4]))
        return { keys, #keys > 0 and redis.call('HMGET', KEYS[2], unpack(keys)) or {} }
        """#

    static let announce = #"""
        -- Records in the first shard that a worker is there. ARGV[2], ARGV[3], ARGV[4]: its number, host and process; ARGV[5]: for how many
        -- microseconds that is remembered.
        local numbers = redis.call('HGET', KEYS[1], 'numbers')
        if not numbers then
            return redis.error_reply('NOPOLICY the namespace has never been opened with a policy')
        end
        local time = redis.call('TIME')
        local now = ARGV[1] ~= '' and tonumber(ARGV[1]) or time[1] * 1000000 + time[2]
        now = math.max(now, cmsgpack.unpack(numbers)[3])
        local meta = redis.call('HGETALL', KEYS[1])
        for i = 1, #meta, 2 do
            if string.sub(meta[i], 1, 7) == 'worker:' and cmsgpack.unpack(meta[i + 1])[3] < now - tonumber(ARGV[5]) then
                redis.call('HDEL', KEYS[1], meta[i])
            end
        end
        return redis.call('HSET', KEYS[1], 'worker:' .. ARGV[2], cmsgpack.pack({ ARGV[3], tonumber(ARGV[4]), now }))
        """#

    static let workers = #"""
        -- Answers with what workers have announced: number, host, process, and for how many microseconds it has been so; and for each worker
        -- that holds runs of this shard, its number and theirs.
        local numbers = redis.call('HGET', KEYS[1], 'numbers')
        if not numbers then
            return redis.error_reply('NOPOLICY the namespace has never been opened with a policy')
        end
        local time = redis.call('TIME')
        local now = ARGV[1] ~= '' and tonumber(ARGV[1]) or time[1] * 1000000 + time[2]
        now = math.max(now, cmsgpack.unpack(numbers)[3])
        local meta, announced, held, counts = redis.call('HGETALL', KEYS[1]), {}, {}, {}
        for i = 1, #meta, 2 do
            local id = string.match(meta[i], '^worker:(.+)$')
            if id then
                local worker = cmsgpack.unpack(meta[i + 1])
                for _, value in ipairs({ id, worker[1], worker[2], now - worker[3] }) do table.insert(announced, value) end
            end
        end
        for _, member in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do
            local id = string.match(member, '^(-?%d+):')
            if id then held[id] = (held[id] or 0) + 1 end
        end
        for id, count in pairs(held) do
            table.insert(counts, id)
            table.insert(counts, count)
        end
        return { announced, counts }
        """#

    static let forget = #"""
        -- Forgets some ends and answers that are old. ARGV[2]: how long ends are retained, ARGV[3]: answers to tokens, in microseconds;
        -- ARGV[4]: of how many keys ends are retained at most, and how many answers; ARGV[5]: the most that it looks at.
        --
        -- Answers with the number of those that it has looked at.
        local most, limit = tonumber(ARGV[4]), tonumber(ARGV[5])

        -- The oldest members of a sorted set that are too old or too many, without the sentinel.
        local function oldest(set, span)
            local surplus = min(limit, call('ZCARD', set) - 1 - most)
            local found = surplus > 0 and call('ZRANGE', set, 0, surplus - 1) or {}
            if #found < limit then
                found = call('ZRANGEBYSCORE', set, '-inf', '(' .. digits(now - span), 'LIMIT', 0, max(limit, #found))
            end
            return found
        end

        local looked = 0
        local keys = oldest(ENDED, tonumber(ARGV[2]))
        load(keys)
        load_ends(keys)
        local older = now - tonumber(ARGV[2])
        for _, key in ipairs(keys) do
            looked = looked + 1
            local list = ends[key]
            -- How they ended decides whether a run that died, or that may still die, is outdated.
            local stays = rows[key] and rows[key].run
            for _, e in ipairs(list) do stays = stays or e[1] == 'dead' end
            local kept = { had = true, changed = true }
            local oldest = now
            for _, e in ipairs(list) do
                if stays or e[4] >= older then
                    add(kept, e)
                    if not stays then oldest = min(oldest, e[4]) end
                end
            end
            ends[key] = kept
            if #kept > 0 then add(ended, digits(oldest), key) end
        end
        for _, name in ipairs(oldest(ANSWERED, tonumber(ARGV[3]))) do
            looked = looked + 1
            local packed = call('HGET', PAST, name)
            local at = packed and unpacked(packed)[string.sub(name, 1, 1) == 't' and 4 or 2]
            -- A client's record is newer than its age if it has sent more since.
            if at and at >= now - tonumber(ARGV[3]) then
                add(answered, digits(at), name)
            else
                add(forgotten, name)
            end
        end
        order = {}
        save(false)
        for start = 1, #forgotten, 1000 do
            call('ZREM', ANSWERED, unpack(forgotten, start, min(start + 999, #forgotten)))
        end
        return looked
        """#
}
