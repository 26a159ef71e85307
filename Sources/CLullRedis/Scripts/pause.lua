-- Pauses a shard, or ends its pause. ARGV[2]: pause or resume; ARGV[3]: the reason, or ''.
--
-- One that is paused already stays so since the first time, and keeps its reason unless there is another one. Answers
-- with the pause: its instant, and its reason; for resume with that which there was, or nil.
if ARGV[2] == 'resume' then
    call('HDEL', META, 'pause')
    redis.pcall('PUBLISH', string.match(META, '{(.*):%d+}'), '')
    return pause
end
local at, reason = unpack(pause and unpacked(pause) or { now, '' })
if ARGV[3] ~= '' then reason = ARGV[3] end
pause = pack({ at, reason })
call('HSET', META, 'pause', pause)
return pause
