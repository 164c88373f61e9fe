import { join } from 'node:path';

import { type Handle, type PackSource, type PluginContext, SvcError } from 'svc/sdk';

import type { GateContract } from '../gate/contract.ts';
import { BrokeredFetch } from './brokered-fetch.ts';
import type { TablesData } from './tables/pack-tables.ts';

/** Hosts that nobody weighs are not asked. */
export const noGate = 'what says how far packs may reach is not there; bring the plugin gate up';

/** Answers what a pack asks of svc. */
type Answers = (method: string, input: unknown) => Promise<unknown>;

/** Of everything that a pack may ask: requests to its hosts, and what its tables answer. */
export function answersOf(
  { manifest }: PackSource,
  { fetch, settings, clock, scope }: PluginContext,
  { tables, gate }: { readonly tables: Answers | undefined; readonly gate: Handle<GateContract> },
): Answers {
  const { id, permissions, limits } = manifest;
  const beyond = (host: string): string | undefined => {
    const answer = gate.available ? gate.get().reach(`pack:${id}`, host) : undefined;
    return answer === undefined ? noGate : answer.verdict === 'refused' ? answer.message : undefined;
  };
  const outbound = new BrokeredFetch({
    ...{ id, fetch, clock, hosts: permissions.hosts, callMs: limits.call_ms, signal: scope.signal },
    setting: (key) => settings.get(key),
    beyond,
  });
  return async (method, input) => {
    if (method === 'fetch') {
      return await outbound.ask(input);
    }
    if (tables === undefined) {
      throw new SvcError('not_found', `svc answers no ${method} of this pack: for tables of its own it asks for "permissions": {"disk_mb": 64}`);
    }
    return await tables(method, input);
  };
}

const heapMb = 64;

/** Answers what a pack asks of its tables, which a thread keeps; undefined for a pack that has none. */
export function tablesOf({ manifest, files }: PackSource, ctx: PluginContext): Answers | undefined {
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
