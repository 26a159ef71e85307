-- Deletes a shard that has no work and no dead runs. Answers with 1 if nothing is left of it, and with 0 if it has
-- work.
local version = redis.call('HGET', KEYS[1], 'version')
if not version then return 1 end
if version ~= VERSION then return redis.error_reply('VERSION ' .. version) end
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
