/// A file with version 1 of the schema, written by that version of the program and dumped as statements.
enum Version1 {
    /// Five namespaces. `all` collects, with three values ready and one pending; `edges` collects at leading edges, with two values
    /// ready and submits absorbed behind each; `run` has a run that a killed worker has claimed, and a newer value; `again` a run
    /// that waits for another attempt; `dead` a dead one.
    static let dump = """
        CREATE TABLE meta (
            base INTEGER NOT NULL, sequence INTEGER NOT NULL, highest INTEGER NOT NULL,
             last_commit INTEGER NOT NULL,
            boot TEXT NOT NULL, since_boot INTEGER NOT NULL, wall INTEGER NOT NULL, start INTEGER NOT NULL
        );
        INSERT INTO meta VALUES(1,3,1921590348,8314667845150320765,'c80162ef-2a62-41c1-acf3-85ffb615923e',
            2447028175600,1795361695137646258,0);
        CREATE TABLE namespaces (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL, wait INTEGER NOT NULL, max_wait INTEGER, edges TEXT NOT NULL,
             delay_rule TEXT NOT NULL,
            max_count INTEGER, combination TEXT NOT NULL
        );
        INSERT INTO namespaces VALUES(1,'dead','debounce',0,NULL,'trailing','restart',NULL,'collect');
        INSERT INTO namespaces VALUES(2,'all','debounce',3600000000000,7200000000000,'trailing','restart',3,
            'collect');
        INSERT INTO namespaces VALUES(3,'edges','debounce',50000000,NULL,'leading','restart',NULL,'collect');
        INSERT INTO namespaces VALUES(4,'run','debounce',0,NULL,'trailing','restart',NULL,'latest');
        INSERT INTO namespaces VALUES(5,'again','throttle',3600000000000,NULL,'leading,trailing','restart',NULL,
            'latest');
        CREATE TABLE work (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, wake INTEGER NOT NULL,
            born INTEGER NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL,
            is_open INTEGER NOT NULL, quiet INTEGER NOT NULL, anchor INTEGER NOT NULL, span INTEGER NOT NULL,
            pending_count INTEGER NOT NULL, pending_last INTEGER,
            ready_from INTEGER, ready_to INTEGER, ready_count INTEGER, ready_first INTEGER, ready_due INTEGER,
            ready_edge TEXT,
            run_id INTEGER, run_from INTEGER, run_to INTEGER, run_count INTEGER, run_first INTEGER, run_due INTEGER,
            run_edge TEXT, run_until INTEGER, fence INTEGER, owner INTEGER, claimed_by INTEGER, attempt INTEGER,
             error TEXT,
            pending BLOB, ready BLOB, run BLOB,
            UNIQUE (namespace, key)
        );
        INSERT INTO work VALUES(1,2,X'6b',180389263,1,5,1,1,3600240443935,240443935,7200000000000,1,240443935,2,4,3,
            75777000,180389263,'maxCount',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
            X'313a642c',X'313a612c313a622c313a632c',NULL);
        INSERT INTO work VALUES(2,3,X'6b',292297444,1,6,1,1,646376114,548317478,9223372036854775807,0,NULL,2,6,2,
            292297444,292297444,'leading',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
            X'313a612c313a642c',NULL);
        INSERT INTO work VALUES(3,4,X'6b',1852337449,1,3,2,1,1852337449,1852337449,9223372036854775807,1,1852337449,
            NULL,NULL,NULL,NULL,NULL,NULL,2,2,2,1,756337804,756337804,'trailing',30821155137,2,1021625947332397652,
            1021625947332397652,1,NULL,X'32',NULL,X'31');
        INSERT INTO work VALUES(4,5,X'78',2829760087,1,2,2,1,3601913243468,0,3600000000000,0,NULL,NULL,NULL,NULL,
            NULL,NULL,NULL,3,2,2,1,1913243468,1913243468,'leading',2829760087,3,1699571670004800938,NULL,1,
            'false failed with status 1',NULL,NULL,X'782031');
        CREATE TABLE ended (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, how TEXT NOT NULL, run INTEGER, fence INTEGER,
             error TEXT,
            recorded INTEGER NOT NULL, at INTEGER NOT NULL
        );
        CREATE TABLE dead (
            run INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first_submit INTEGER NOT NULL, last_submit INTEGER NOT NULL, count INTEGER NOT NULL,
             first INTEGER NOT NULL,
            due INTEGER NOT NULL, edge TEXT NOT NULL, fence INTEGER NOT NULL, owner INTEGER NOT NULL,
            attempts INTEGER NOT NULL, error TEXT, at INTEGER NOT NULL, value BLOB NOT NULL
        );
        INSERT INTO dead VALUES(1,1,X'78',1,1,1,28262092,28262092,'trailing',1,-784372433963883187,1,
            'false failed with status 1',37911039,X'333a7820312c');
        CREATE TABLE tokens (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, token TEXT NOT NULL, key BLOB NOT NULL,
            generation INTEGER NOT NULL, due INTEGER, at INTEGER NOT NULL,
            UNIQUE (namespace, token)
        );
        INSERT INTO tokens VALUES(1,2,'ta',X'6b',2,3600075777000,75777000);
        INSERT INTO tokens VALUES(2,2,'tb',X'6b',3,3600128307635,128307635);
        INSERT INTO tokens VALUES(3,2,'tc',X'6b',4,180389263,180389263);
        CREATE INDEX work_by_wake ON work (namespace, wake);
        CREATE INDEX work_by_worker ON work (claimed_by) WHERE claimed_by IS NOT NULL;
        CREATE INDEX ended_by_key ON ended (namespace, key, last);
        CREATE INDEX dead_by_key ON dead (namespace, key);
        PRAGMA application_id = 1282763884;
        PRAGMA user_version = 1;
        """
}
