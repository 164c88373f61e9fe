import { join } from 'node:path';

import { type PackSource, type PluginContext, SvcError } from 'svc/sdk';

import type { TablesData } from './pack-tables.ts';

const heapMb = 64;

/** Answers what a pack asks of its tables, which a thread keeps; undefined for a pack that has none. */
export function tablesOf({ manifest, files }: PackSource, ctx: PluginContext): ((method: string, input: unknown) => Promise<unknown>) | undefined {
  const names = files.files().filter((name) => /^migrations\/[^/]+\.sql$/.test(name));
  const { disk_mb: maxMb } = manifest.permissions;
  if (maxMb === 0) {
    if (names.length > 0) {
      throw new SvcError('invalid_argument', `${manifest.id} has ${names[0]} and no room for tables: ask for "permissions": {"disk_mb": 64} in plugin.json`);
    }
    return undefined;
  }
  const migrations = names.map((name) => ({ name: name.slice('migrations/'.length), sql: Buffer.from(files.read(name)!).toString('utf8') }));
  const data: TablesData = { file: join(ctx.dataDir, 'tables.db'), maxMb, migrations };
  const thread = ctx.threads.start('tables', 'tables-worker.ts', data, { heapMb });
  return async (method, input) => {
    if (!['all', 'run', 'batch'].includes(method)) {
      throw new SvcError('not_found', `svc answers no ${method} of a pack`);
    }
    return await thread.call(method, input, { timeoutMs: manifest.limits.call_ms });
  };
}
