/** Commands to Redis and Valkey; none takes a word of the caller, none reads a key. */
export const redisViews: Readonly<Record<string, readonly string[]>> = {
  activity: ['CLIENT', 'LIST'],
  replication: ['INFO', 'replication'],
  slow: ['SLOWLOG', 'GET', '25'],
  size: ['INFO', 'all'],
};

const shownInfo =
  /^(?:redis_version|uptime_in_seconds|connected_clients|blocked_clients|maxclients|used_memory|used_memory_rss|used_memory_peak|maxmemory|maxmemory_policy|mem_fragmentation_ratio|rdb_last_save_time|rdb_last_bgsave_status|aof_enabled|aof_last_write_status|total_commands_processed|instantaneous_ops_per_sec|rejected_connections|expired_keys|evicted_keys|keyspace_hits|keyspace_misses|latest_fork_usec|role|db\d+|loading)$/;

/** Returns the rows of a view of Redis: fields of INFO, one row for each client, or the lines of the slow log. */
export function redisRows(view: string, text: string): readonly unknown[] {
  const lines = text.split('\n').map((line) => line.trim());
  if (view === 'activity') {
    return lines
      .filter((line) => line.startsWith('id='))
      .map((line) =>
        Object.fromEntries(
          line
            .split(' ')
            .map((pair) => [pair.split('=', 1)[0]!, pair.slice(pair.indexOf('=') + 1)] as const)
            .filter(([name]) => /^(?:id|addr|name|age|idle|db|cmd|tot-mem|user|flags)$/.test(name)),
        ),
      );
  }
  if (view === 'slow') {
    return slowOf(lines);
  }
  const pairs = lines
    .filter((line) => /^\w+:/.test(line))
    .map((line) => [line.split(':', 1)[0]!, line.slice(line.indexOf(':') + 1)] as const)
    .filter(([name]) => view === 'replication' || shownInfo.test(name));
  return [Object.fromEntries(pairs)];
}

/**
 * Entries of the slow log as redis-cli prints them without a terminal: id, time, microseconds, then
 * the command, of which only the name is told, since its arguments are data.
 */
function slowOf(lines: readonly string[]): readonly object[] {
  const entries: object[] = [];
  for (let at = 0; at + 3 < lines.length; at++) {
    const [id, seconds, micros, command] = lines.slice(at, at + 4);
    if (
      /^\d+$/.test(id!) &&
      /^\d{9,11}$/.test(seconds!) &&
      /^\d+$/.test(micros!) &&
      /^[A-Za-z.]+$/.test(command!)
    ) {
      entries.push({
        at: new Date(Number(seconds) * 1_000).toISOString(),
        ms: Number(micros) / 1_000,
        command: command!.toUpperCase(),
      });
      at += 3;
    }
  }
  return entries;
}
