-- Answers with how many entries the inbox has, when the oldest of them was made, and the keys that have some. ARGV: the
-- most keys.
local keys, oldest, start = {}, nil, '-'
for i = 1, tonumber(ARGV[1]) do
    local entry = call('ZRANGEBYLEX', INBOX, start, '+', 'LIMIT', 0, 1)[1]
    if not entry or entry == '\255lull' then break end
    local length = struct.unpack('>I2', entry)
    local _, at = struct.unpack('>I8I8', entry, 3 + length)
    keys[i] = string.sub(entry, 3, 2 + length)
    oldest = math.min(oldest or at, at)
    start = '(' .. string.sub(entry, 1, 2 + length) .. '\255'
end
return { call('ZCARD', INBOX) - 1, oldest and digits(oldest) or '', keys }
