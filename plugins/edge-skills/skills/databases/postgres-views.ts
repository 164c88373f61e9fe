/** Questions to PostgreSQL, each one row set; none takes a word of the caller. They hold from version 10 on. */
export const postgresViews: Readonly<Record<string, string>> = {
  activity: `select pid, usename as "user", datname as database, application_name as application, client_addr::text as client, state,
    wait_event_type, wait_event, extract(epoch from now() - xact_start)::int as transaction_seconds,
    extract(epoch from now() - query_start)::int as query_seconds, left(query, 500) as query
    from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'
    order by xact_start nulls last limit 100`,
  locks: `select w.pid as waiting_pid, w.usename as waiting_user, left(w.query, 300) as waiting_query,
    extract(epoch from now() - w.query_start)::int as waiting_seconds, b.pid as blocking_pid, b.usename as blocking_user,
    b.state as blocking_state, left(b.query, 300) as blocking_query
    from pg_stat_activity w cross join lateral unnest(pg_blocking_pids(w.pid)) as blocker(pid)
    join pg_stat_activity b on b.pid = blocker.pid order by w.query_start limit 100`,
  replication: `select application_name as replica, client_addr::text as client, state, sync_state,
    pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, replay_lsn)::bigint as behind_bytes,
    extract(epoch from replay_lag)::int as behind_seconds, null::text as slot, null::bigint as kept_bytes
    from pg_stat_replication
    union all select null, null, case when active then 'active' else 'inactive' end, slot_type, null, null, slot_name,
    pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn)::bigint
    from pg_replication_slots
    union all select 'this server', null, 'recovering', null, null,
    extract(epoch from now() - pg_last_xact_replay_timestamp())::int, null, null where pg_is_in_recovery()`,
  slow: `select pid, usename as "user", datname as database, state, extract(epoch from now() - query_start)::int as seconds, left(query, 500) as query
    from pg_stat_activity where state <> 'idle' and query_start < now() - interval '1 second' and pid <> pg_backend_pid()
    order by query_start limit 50`,
  size: `select datname as database, pg_database_size(datname) as bytes, numbackends as connections, xact_commit as commits,
    xact_rollback as rollbacks, deadlocks, temp_bytes, round(100.0 * blks_hit / nullif(blks_hit + blks_read, 0), 1) as cache_hit_percent
    from pg_stat_database where datname is not null and has_database_privilege(datname, 'connect') order by 2 desc limit 50`,
  tables: `select schemaname as schema, relname as "table", pg_total_relation_size(relid) as bytes, n_live_tup as rows, n_dead_tup as dead_rows,
    last_autovacuum, last_autoanalyze, seq_scan as sequential_scans, idx_scan as index_scans
    from pg_stat_user_tables order by pg_total_relation_size(relid) desc limit 50`,
};

/** Answers with one line of JSON, changes nothing, and waits for nobody. */
export const postgresScript = (view: string): string =>
  `set default_transaction_read_only = on; set statement_timeout = '10s'; set lock_timeout = '2s';
select coalesce(json_agg(row), '[]'::json)::text from (${postgresViews[view]!}) as row;`;
