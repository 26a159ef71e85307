-- Records submits, in their order, each with an answer of its own.
--
-- ARGV[2], ARGV[3]: the number of a client and of its batch, or '' and ''. A batch that is repeated is answered as
-- the first time; it must be the latest one of this client in this shard. Then five for each submit: key, value, a
-- wait in microseconds or '' for that of the namespace, a token or '', the number of the submitter or ''.
--
-- Answers with four for each submit: 0, or 1 if the token was used with another key; the submit's number; when the
-- value falls due, and in how many microseconds, or nil if the submit was absorbed.
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
if wakes or interrupts then redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '') end
save(false)
return answers
