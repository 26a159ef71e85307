-- Answers with the instant, in microseconds; the shard's version, rules, place and numbers; the number of dead runs;
-- the row of a key, and how ranges of its submits have ended; the pause; and what the limit has counted.
-- ARGV[2]: the key; there may be none.
local key = ARGV[2]
return {
    digits(now), version, rules, place, numbers, call('ZCARD', DEAD), key and call('HGET', ROWS, key) or false,
    key and call('HGET', PAST, 'e' .. key) or false, pause, call('HGET', META, 'arrival')
}
