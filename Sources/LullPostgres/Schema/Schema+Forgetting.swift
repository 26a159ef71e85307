// Deleting namespaces.
extension Schema {
    /// The change of version 4.
    static let forgottenNamespaces = #"""
        -- A namespace that was forgotten keeps its row: a transaction that is still open may have its number.
        ALTER TABLE namespaces ADD COLUMN is_forgotten boolean NOT NULL DEFAULT false;
        """#

    static let forgetting = #"""
        -- Forgets a namespace without work, at most `size` rows of each table at a time. Call it until it answers something else than
        -- more: forgotten; work, if the namespace has work or dead runs, and stays. What a transaction that is still open submits to
        -- it shows it again.
        CREATE OR REPLACE FUNCTION forget_namespace(namespace text, size int DEFAULT 10000) RETURNS text
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_column
        DECLARE
            n namespaces := named(namespace);
            most bigint;
            deleted int;
            has_more boolean := false;
        BEGIN
            PERFORM ensure_durability();
            IF has_work(n.id) OR EXISTS (SELECT FROM dead d WHERE d.namespace + 0 = n.id) THEN RETURN 'work'; END IF;
            -- Keys without work whose gates are not at rest. What another transaction has locked may become work, and stays.
            WITH gone AS (
                DELETE FROM work w
                WHERE w.ctid = ANY (ARRAY(
                    SELECT o.ctid FROM work o
                    WHERE o.namespace = n.id AND o.pending_count = 0 AND o.ready_to IS NULL AND o.run_id IS NULL
                    LIMIT size FOR UPDATE SKIP LOCKED))
                RETURNING w.generation, w.born
            )
            SELECT count(*), max(g.generation) FILTER (WHERE g.generation - g.born >= 1048576) INTO deleted, most FROM gone g;
            has_more := has_more OR deleted = size;
            -- As when such a row is deleted at rest.
            WHILE most IS NOT NULL AND birth() <= most LOOP END LOOP;
            DELETE FROM ended e WHERE e.id = ANY (ARRAY(SELECT o.id FROM ended o WHERE o.namespace = n.id LIMIT size));
            GET DIAGNOSTICS deleted = ROW_COUNT;
            has_more := has_more OR deleted = size;
            DELETE FROM tokens t WHERE t.id = ANY (ARRAY(SELECT o.id FROM tokens o WHERE o.namespace = n.id LIMIT size));
            GET DIAGNOSTICS deleted = ROW_COUNT;
            has_more := has_more OR deleted = size;
            IF has_more THEN RETURN 'more'; END IF;
            DELETE FROM workers w WHERE w.namespace = n.id;
            UPDATE namespaces s SET is_forgotten = true WHERE s.id = n.id;
            RETURN 'forgotten';
        END $$;
        """#
}
