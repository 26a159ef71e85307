-- Version 3: namespaces that are paused.

-- When that was, and why; NULL if it is not paused.
ALTER TABLE namespaces ADD COLUMN paused_at bigint;
ALTER TABLE namespaces ADD COLUMN pause_reason text;
