-- Answers with what workers have announced: number, host, process, and for how many microseconds it has been so; and
-- for each worker that holds runs of this shard, its number and theirs.
local meta, announced, held, counts = call('HGETALL', META), {}, {}, {}
for i = 1, #meta, 2 do
    local id = string.match(meta[i], '^worker:(.+)$')
    if id then
        local host, process, at = unpack(unpacked(meta[i + 1]))
        for _, value in ipairs({ id, host, process, now - at }) do table.insert(announced, value) end
    end
end
for _, member in ipairs(call('ZRANGE', HELD, 0, -1)) do
    local id = string.match(member, '^(-?%d+):')
    if id then held[id] = (held[id] or 0) + 1 end
end
for id, count in pairs(held) do
    table.insert(counts, id)
    table.insert(counts, count)
end
return { announced, counts }
