import { join } from 'node:path';

import type { GateContract } from 'svc/contracts/gate';
import { type Handle, type PackSource, type PluginContext } from 'svc/sdk';

import { BrokeredFetch } from './brokered-fetch.ts';
import { errors } from './errors.ts';
import { PackDatabase, type PackDatabaseOptions } from './tables/pack-database.ts';
import { isTablesMethod } from './tables/tables-wire.ts';

const askForTables = '"permissions": {"disk_mb": 64}';

/** Hosts that nobody weighs are not asked. */
export const noGate =
  'the limits of packs are unknown, because the plugin gate is not running; enable it';

/** Answers what a pack asks of svc. */
type Answers = (method: string, input: unknown) => Promise<unknown>;

/**
 * Returns the answers to everything that a pack may request: HTTP requests to its hosts, and its
 * tables.
 */
export function answersOf(
  { manifest }: PackSource,
  { fetch, settings, clock, scope }: PluginContext,
  {
    tables,
    gate,
  }: { readonly tables: PackDatabase | undefined; readonly gate: Handle<GateContract> },
): Answers {
  const { id, permissions, limits } = manifest;
  const beyond = (host: string): string | undefined => {
    const answer = gate.available ? gate.get().reach(`pack:${id}`, host) : undefined;
    return answer === undefined
      ? noGate
      : answer.verdict === 'refused'
        ? answer.message
        : undefined;
  };
  const outbound = new BrokeredFetch({
    id,
    fetch,
    clock,
    hosts: permissions.hosts,
    callMs: limits.call_ms,
    signal: scope.signal,
    setting: (key) => settings.get(key),
    beyond,
  });
  return async (method, input) => {
    if (method === 'fetch') {
      return await outbound.ask(input);
    }
    if (tables === undefined) {
      throw errors.tables_not_asked({ method, ask: askForTables });
    }
    if (!isTablesMethod(method)) {
      throw errors.no_method({ method });
    }
    return await tables.call(method, input);
  };
}

const stopMs = 10_000;
/**
 * Share of the time of a call, or of a start, that a statement may take: its caller learns why it
 * was ended.
 */
const share = 0.75;

/** Answers what a pack asks of its tables, which a process of their own keeps; undefined for a pack that has none. */
export function tablesOf(
  { manifest, files, stumbled, failed }: PackSource,
  { dataDir, log, clock, scope }: PluginContext,
  given: Pick<PackDatabaseOptions, 'origin' | 'random'>,
): PackDatabase | undefined {
  const names = files.files().filter((name) => /^migrations\/[^/]+\.sql$/.test(name));
  const { id, permissions, limits } = manifest;
  const { disk_mb: maxMb } = permissions;
  if (maxMb === 0) {
    if (names.length > 0) {
      throw errors.no_room_for_tables({ id, name: names[0]!, ask: askForTables });
    }
    return undefined;
  }
  const migrations = names.map((name) => ({
    name: name.slice('migrations/'.length),
    sql: Buffer.from(files.read(name)!).toString('utf8'),
  }));
  const database = new PackDatabase({
    ...given,
    log,
    clock,
    label: id,
    statementMs: limits.call_ms * share,
    openMs: limits.activate_ms * share,
    data: { file: join(dataDir, 'tables.db'), maxMb, migrations },
    onEnded: (cause, again) => (again ? stumbled(cause) : failed(cause)),
  });
  scope.occupy(() => `tables of the pack: ${database.state}`, {
    begin: () => undefined,
    end: () => database.stop(),
    endMs: stopMs,
  });
  return database;
}
