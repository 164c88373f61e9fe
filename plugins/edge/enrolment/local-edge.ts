import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';

import { type Build, isSvcError, type PluginContext, type ProgramHandle, type Tables } from 'svc/sdk';
import { tunnelPath } from 'svc/tunnel';

import { EdgeRemoved } from '../contract.ts';
import { edgeStore } from '../edge-store.ts';
import type { Edges } from '../edges.ts';
import type { Roll } from '../edge-table.ts';
import type { EdgeTables } from '../tables.ts';

export interface LocalParts {
  readonly edges: Pick<Edges, 'insert' | 'renew' | 'admit'>;
  readonly roll: Pick<Roll, 'byId' | 'byAccessKey'>;
  readonly tables: Tables<EdgeTables>;
}

interface Kept {
  readonly access_key?: unknown;
  readonly [field: string]: unknown;
}

const self = 'svc';
const lookMs = 250;
const again = 'to have one, remove that folder and start svc again';

/** The agent of the manager's own machine: a process of its own with keys that nobody has to type. */
export function keepLocalEdge(ctx: PluginContext, build: Build, parts: LocalParts): void {
  const [file, ...args] = build.agent;
  if (file === undefined || !ctx.settings.get<boolean>('edge.local')) {
    return;
  }
  const folder = resolve(ctx.dataDir, '../../local-edge');
  let id: number | undefined;
  let agent: ProgramHandle | undefined;
  const begin = async (): Promise<void> => {
    // The agent is told where to find the manager, which is known once it listens.
    if (build.ownUrl === '') {
      ctx.scope.timeout('start the local agent', lookMs, begin);
      return;
    }
    try {
      id = await enrolled(folder, build.ownUrl, parts);
      // A new one can be deleted before anybody here knows which it is: looked up and started in one go, it is known to be there.
      if (id === undefined || !parts.roll.byId(id)) {
        ctx.log.info({ folder }, `the edge of this machine was deleted, so its agent is not started; ${again}`);
        return;
      }
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      ctx.log.warn({ cause: error.message }, 'the agent of this machine is not started');
      return;
    }
    agent = ctx.processes.start('local-edge', file, {
      args: () => [...args, 'edge', '--data', folder, '--json'],
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', SVC_LOG_LEVEL: 'warn' },
    });
  };
  ctx.scope.timeout('start the local agent', lookMs, begin);
  ctx.events.on(EdgeRemoved, async ({ edge_id: removed }) => {
    if (removed === id) {
      await agent?.stop();
      ctx.log.info({ folder }, `the edge of this machine was deleted, so its agent has stopped; ${again}`);
    }
  });
}

/** Which edge it is: its keys are in its folder, made now if there were none. Undefined when a person has deleted it. */
async function enrolled(folder: string, manager: string, { edges, roll, tables }: LocalParts): Promise<number | undefined> {
  const file = join(folder, 'edge.json');
  const kept = read(file);
  if (typeof kept?.access_key === 'string') {
    const known = roll.byAccessKey(kept.access_key);
    if (!known) {
      return undefined;
    }
    if (kept['manager'] !== manager) {
      keep(file, { ...kept, manager });
    }
    return known.id;
  }
  const { row, secretKey } = await tables.write(async (tx) => {
    // A start that was killed before its keys were kept has left an edge that nobody can be.
    const lost = (await edgeStore(tx).madeBy(self)).find(({ id }) => roll.byId(id)?.lastRegisteredAt === null);
    return lost
      ? { row: lost, secretKey: await edges.renew(tx, lost.id) }
      : await edges.insert(tx, { name: hostname(), description: 'The machine of the manager.', labels: {}, createdBy: self });
  });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  keep(file, { manager, tunnel_path: tunnelPath, edge_id: row.id, name: row.name, access_key: row.access_key, secret_key: secretKey });
  await edges.admit(row.id);
  return row.id;
}

function read(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    // None yet, or none that is of use.
    return undefined;
  }
}

/** Whole or not at all, for the owner's eyes only. */
function keep(file: string, content: object): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, JSON.stringify(content, undefined, 2));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
