-- The settings under which functions run. A plan must not depend on statistics: a queue may be empty when a session
-- makes the plan, and have a million rows when the session uses it again.
DO $$
DECLARE
    f record;
    setting text;
BEGIN
    FOR f IN
        SELECT p.oid::regprocedure AS function, p.proname AS name FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format(
            'ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan SET enable_seqscan = off', f.function);
        -- Each setting takes a microsecond. An insertion has no other plan anyway.
        CONTINUE WHEN f.name = 'append';
        FOREACH setting IN ARRAY '{enable_sort,enable_hashjoin,enable_mergejoin,jit}'::text[] LOOP
            EXECUTE format('ALTER FUNCTION %s SET %s = off', f.function, setting);
        END LOOP;
    END LOOP;
END $$;
