-- Answers with some keys, and their rows. ARGV: key, for the order of their bytes, with the first and the last, as
-- ZRANGEBYLEX takes them; or wake, for the order of the instants at which they wake, with the first and the last, as
-- ZRANGEBYSCORE takes them; how many come before; and the most.
local command = ARGV[1] == 'key' and 'ZRANGEBYLEX' or 'ZRANGEBYSCORE'
local keys = call(command, ARGV[1] == 'key' and NAMES or DUE, ARGV[2], ARGV[3], 'LIMIT', ARGV[4], ARGV[5])
return { keys, #keys > 0 and call('HMGET', ROWS, unpack(keys)) or {} }
