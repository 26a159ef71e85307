-- Adds a call of a producer to the inbox of a shard: the next step of its key makes it. The interface for other
-- languages.
--
-- KEYS: the structures meta, due and inbox of the shard. ARGV: submit, touch, flush or cancel; the key; for a submit
-- its value, a wait in microseconds or '', a token or '', and a context or ''; for a touch a wait or ''. What is
-- missing at the end is ''.
--
-- Answers with the number of the call.
local META, DUE, INBOX = unpack(KEYS)
local call = redis.call
local wants = { submit = 4, touch = 1, flush = 0, cancel = 0 }
local kind, key = ARGV[1], ARGV[2]
local version, last = unpack(call('HMGET', META, 'version', 'entry'))
if not version then return redis.error_reply('NOPOLICY the namespace has never been opened with a policy') end
if version ~= VERSION then return redis.error_reply('VERSION ' .. version) end
if not wants[kind] then return redis.error_reply('ERR a call is submit, touch, flush or cancel') end
if not key or key == '\255lull' then return redis.error_reply('ERR this key is not available') end
if #key > 1024 then return redis.error_reply('ERR a key has at most 1024 bytes') end
if #ARGV > 2 + wants[kind] then return redis.error_reply('ERR there are too many arguments') end
local value, wait = ARGV[3] or '', ARGV[kind == 'submit' and 4 or 3] or ''
if #value > 16777216 then return redis.error_reply('ERR a value has at most 16 MiB') end
if #(ARGV[6] or '') > 1024 then return redis.error_reply('ERR a context has at most 1024 bytes') end
if kind ~= 'flush' and kind ~= 'cancel' and wait ~= '' and not string.match(wait, '^%d+$') then
    return redis.error_reply('ERR a wait is a number of microseconds')
end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local number = math.max(tonumber(last or 0) + 1, now)
local entry = { struct.pack('>I2', #key) .. key .. struct.pack('>I8I8', number, now) .. string.sub(kind, 1, 1) }
for i = 3, 2 + wants[kind] do
    entry[#entry + 1] = struct.pack('>I4', #(ARGV[i] or '')) .. (ARGV[i] or '')
end
call('ZCARD', DUE)
call('ZADD', INBOX, '0', table.concat(entry))
call('ZADD', DUE, 'LT', string.format('%.0f', now), key)
call('HSET', META, 'entry', string.format('%.0f', number))
redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '')
return number
