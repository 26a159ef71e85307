-- Records in the first shard that a worker is there. ARGV[2], ARGV[3], ARGV[4]: its number, host and process;
-- ARGV[5]: for how many microseconds that is remembered.
local meta = call('HGETALL', META)
for i = 1, #meta, 2 do
    if string.match(meta[i], '^worker:') and unpacked(meta[i + 1])[3] < now - tonumber(ARGV[5]) then
        call('HDEL', META, meta[i])
    end
end
return call('HSET', META, 'worker:' .. ARGV[2], pack({ ARGV[3], tonumber(ARGV[4]), now }))
