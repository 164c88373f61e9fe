import { type Shell, usageFailure } from 'svc/cli';

import type { Fields } from './taken.ts';

/** Columns of the table `monitor` that a check is made from, in the versions 1 and 2. */
const columns = [
  ...['id', 'name', 'type', 'parent', 'active', 'interval', 'timeout', 'maxretries'],
  ...['url', 'hostname', 'port', 'method', 'body', 'headers', 'keyword', 'invert_keyword'],
  ...['json_path', 'json_path_operator', 'expected_value', 'accepted_statuscodes_json'],
  ...['maxredirects', 'ignore_tls', 'upside_down', 'ip_family', 'proxy_id', 'conditions'],
  ...['auth_method', 'basic_auth_user', 'basic_auth_pass', 'bearer_token', 'radius_password'],
  ...['dns_resolve_type', 'dns_resolve_server', 'smtp_security', 'ws_subprotocol'],
  ...['mqtt_username', 'mqtt_password', 'grpc_url', 'grpc_service_name', 'grpc_enable_tls'],
  ...['database_connection_string', 'database_query'],
];

/** Names that a backup writes as the column is called, unlike all others. */
const keptNames = new Set([
  ...['basic_auth_user', 'basic_auth_pass', 'bearer_token'],
  ...['dns_resolve_type', 'dns_resolve_server'],
]);

/** Reads the database of Uptime Kuma, as its backup would have it. */
export async function kumaBackupOf(
  shell: Pick<Shell, 'readTables'>,
  path: string,
): Promise<Fields> {
  const tables = await shell.readTables(path, { monitor: columns, notification: ['id'] });
  const monitors = tables.get('monitor');
  if (!['id', 'name', 'type'].every((column) => monitors?.columns.includes(column))) {
    throw usageFailure(
      `${path} is a database, but not that of Uptime Kuma: it has no table monitor with id, name and type`,
    );
  }
  return {
    monitorList: monitors!.rows
      .toSorted((a, b) => Number(a['id']) - Number(b['id']))
      .map(monitorOf),
    notificationList: tables.get('notification')?.rows ?? [],
  };
}

const monitorOf = (row: Fields): Fields => ({
  ...Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      keptNames.has(column) ? column : camelCased(column),
      value,
    ]),
  ),
  accepted_statuscodes: listIn(row['accepted_statuscodes_json']),
  conditions: listIn(row['conditions']),
});

const camelCased = (column: string): string =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a list that is stored as JSON; any other text is its only entry, to be named as such. */
function listIn(stored: unknown): readonly unknown[] {
  if (typeof stored !== 'string') {
    return [];
  }
  try {
    const list: unknown = JSON.parse(stored);
    return Array.isArray(list) ? list : [stored];
  } catch {
    return [stored];
  }
}
