-- Retries or discards a dead run. ARGV[2]: retry or discard; ARGV[3]: the run.
--
-- Answers with accepted, notFound, outdated or busy.
local id = ARGV[3]
local packed = call('HGET', PAST, 'd' .. id)
if not packed then return 'notFound' end
local key, _, run = unpack(unpacked(packed))
load({ key })
load_ends({ key })
if rows[key] then settle(rows[key]) end
if ARGV[2] == 'retry' then
    local answer = retry(key, run)
    if answer ~= 'accepted' then return answer end
else
    drop({ key = key }, run.index, run.count)
end
local list = changed_ends(key)
for i = #list, 1, -1 do
    if list[i][1] == 'dead' and list[i][5] == run.id then table.remove(list, i) end
end
add(forgotten, 'd' .. id)
add(revived, id)
save(false)
return 'accepted'
