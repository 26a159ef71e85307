// The list of workers.
extension Schema {
    /// The change of version 5.
    static let announcedWorkers = #"""
        -- Where a worker runs, and when it last said that it is there; NULL if it never has.
        ALTER TABLE workers ADD COLUMN host text, ADD COLUMN process bigint, ADD COLUMN seen bigint;
        """#

    static let workers = #"""
        -- Records that a worker is there. What was done by workers of more than `memory` ago is summed up under the number 0.
        CREATE OR REPLACE FUNCTION announce(
            namespace text, worker bigint, host text, process bigint, memory bigint, at bigint DEFAULT NULL
        ) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_column
        DECLARE
            n namespaces := named(namespace);
            now bigint := coalesce(at, present());
        BEGIN
            -- What another transaction has locked is not old, or is being deleted by it.
            WITH gone AS (
                DELETE FROM workers w
                WHERE w.ctid = ANY (ARRAY(
                    SELECT o.ctid FROM workers o
                    WHERE o.namespace = n.id AND o.owner NOT IN (0, worker) AND o.seen < now - memory
                    FOR UPDATE SKIP LOCKED))
                RETURNING w.attempts, w.lost_leases
            )
            INSERT INTO workers AS w (namespace, owner, attempts, lost_leases, at)
            SELECT n.id, 0, sum(g.attempts), sum(g.lost_leases), now FROM gone g HAVING count(*) > 0
            ON CONFLICT (namespace, owner) DO UPDATE
            SET attempts = w.attempts + excluded.attempts, lost_leases = w.lost_leases + excluded.lost_leases, at = excluded.at;
            INSERT INTO workers AS w (namespace, owner, attempts, lost_leases, at, host, process, seen)
            VALUES (n.id, worker, 0, 0, now, announce.host, announce.process, now)
            ON CONFLICT (namespace, owner) DO UPDATE SET host = excluded.host, process = excluded.process, seen = excluded.seen;
        END $$;

        -- The workers that have announced themselves, how many microseconds ago, and the runs that each holds.
        CREATE OR REPLACE FUNCTION workers(namespace text, at bigint DEFAULT NULL) RETURNS TABLE (
            worker bigint, host text, process bigint, seen bigint, running bigint
        ) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_column
        DECLARE
            n namespaces := named(namespace);
            now bigint := coalesce(at, present());
        BEGIN
            RETURN QUERY
            SELECT
                o.owner, o.host, o.process, greatest(now - o.seen, 0),
                (SELECT count(*) FROM work w WHERE w.claimed_by = o.owner AND w.namespace + 0 = n.id)
            FROM workers o WHERE o.namespace = n.id AND o.seen IS NOT NULL;
        END $$;
        """#
}
