/** Questions to MySQL and MariaDB; none takes a word of the caller. */
export const mysqlViews: Readonly<Record<string, string>> = {
  activity: `select id, user, host, db as \`database\`, command, time as seconds, state, left(info, 500) as query
    from information_schema.processlist where id <> connection_id() order by time desc limit 100`,
  locks: `select trx_id as transaction, trx_state as state, trx_started as started, trx_mysql_thread_id as thread,
    timestampdiff(second, trx_started, now()) as seconds, trx_rows_locked as rows_locked, left(trx_query, 300) as query
    from information_schema.innodb_trx order by trx_started limit 100`,
  replication: 'show slave status',
  slow: `select id, user, db as \`database\`, time as seconds, state, left(info, 500) as query
    from information_schema.processlist where command <> 'Sleep' and time >= 1 and id <> connection_id() order by time desc limit 50`,
  size: `select table_schema as \`database\`, sum(data_length + index_length) as bytes, sum(data_free) as free_bytes, count(*) as tables
    from information_schema.tables group by table_schema order by 2 desc limit 50`,
  tables: `select table_schema as \`schema\`, table_name as \`table\`, data_length + index_length as bytes, table_rows as \`rows\`, engine
    from information_schema.tables where table_type = 'BASE TABLE' order by 3 desc limit 50`,
};

/** Rows of `mysql --batch`: names, then values, parted by tabs; a tab in a value is written `\t`. */
export function mysqlRows(text: string): readonly object[] {
  const [names = [], ...rows] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
  return rows.map((row) =>
    Object.fromEntries(names.map((name, i) => [name, row[i] === 'NULL' ? null : (row[i] ?? null)])),
  );
}
