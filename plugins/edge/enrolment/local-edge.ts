import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';

import { EdgeRemoved } from 'svc/contracts/edge';
import { type ForeignPrograms, type ProgramHandle, Programs } from 'svc/contracts/programs';
import { type Build, type Handle, isSvcError, type PluginContext, type Tables } from 'svc/sdk';
import { type EdgeKeys, keysSum, readText, tunnelPath, writeText } from 'svc/tunnel';

import type { EdgeSecrets } from '../identity/edge-secrets.ts';
import type { Edges } from '../identity/edges.ts';
import { edgeStore } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeTables } from '../record/tables.ts';
import { errors } from './errors.ts';

export interface LocalEdgeParts {
  readonly build: Build;
  readonly edges: Pick<Edges, 'insert'>;
  readonly edgeSecrets: Pick<EdgeSecrets, 'renew'>;
  readonly edgeTable: Pick<EdgeTable, 'byId' | 'byAccessKey' | 'reload'>;
  readonly tables: Tables<EdgeTables>;
}

interface Kept extends EdgeKeys {
  readonly manager?: string;
  readonly keys_sum?: number;
}

const self = 'svc';
const lookMs = 250;
const remedy = 'to have one again, remove this folder and restart svc';

/** The agent of the manager's own machine: a process of its own, with keys that are never typed. */
export class LocalEdge {
  readonly #ctx: PluginContext;
  readonly #parts: LocalEdgeParts;
  readonly #folder: string;
  readonly #programs: Handle<ForeignPrograms>;
  #id: number | undefined;
  #agent: ProgramHandle | undefined;
  #due = false;

  constructor(ctx: PluginContext, parts: LocalEdgeParts) {
    this.#ctx = ctx;
    this.#parts = parts;
    this.#folder = resolve(ctx.dataDir, '../../local-edge');
    this.#programs = ctx.services.maybe(Programs);
  }

  schedule(): void {
    const { settings, events } = this.#ctx;
    if (this.#parts.build.agent.length === 0 || !settings.get<boolean>('edge.local')) {
      return;
    }
    this.#beginSoon();
    this.#programs.onChange((state) => state === 'up' && this.#beginSoon());
    events.on(EdgeRemoved, ({ edge_id: removed }) =>
      removed === this.#id ? this.#stop() : undefined,
    );
  }

  #beginSoon(): void {
    if (!this.#due) {
      this.#due = true;
      this.#ctx.scope.timeout('start the local agent', lookMs, () => this.#begin());
    }
  }

  async #begin(): Promise<void> {
    this.#due = false;
    const { log } = this.#ctx;
    const { build, edgeTable } = this.#parts;
    if (!this.#programs.available) {
      log.info({}, 'local agent not started: the programs plugin is not active');
      return;
    }
    // The agent is given the address of the manager, which is known once it listens.
    if (build.ownUrl === '') {
      this.#beginSoon();
      return;
    }
    try {
      this.#id = await this.#enrolled(build.ownUrl);
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      log.warn(
        { event: 'edge.local_not_enrolled', cause: error.message },
        'failed to enrol the local agent; restart svc to retry',
      );
      return;
    }
    // A new one can be deleted before its id is known here: looked up and started in one go, it is known to be there.
    if (this.#id === undefined || !edgeTable.byId(this.#id)) {
      log.info(
        { folder: this.#folder },
        `local agent not started: its edge was deleted; ${remedy}`,
      );
      return;
    }
    this.#start();
  }

  #start(): void {
    const [file, ...args] = this.#parts.build.agent;
    this.#agent = this.#programs.get().start(this.#ctx, 'local-edge', file!, {
      args: () => [...args, 'edge', '--data', this.#folder, '--json'],
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        SVC_LOG_LEVEL: 'warn',
      },
    });
  }

  async #stop(): Promise<void> {
    await this.#agent?.stop();
    this.#ctx.log.info(
      { folder: this.#folder },
      `local agent stopped: its edge was deleted; ${remedy}`,
    );
  }

  /** Which edge it is: its keys are in its folder, made now if there were none. Undefined when a person has deleted it. */
  async #enrolled(manager: string): Promise<number | undefined> {
    const { edges, edgeSecrets, edgeTable, tables } = this.#parts;
    const file = join(this.#folder, 'edge.json');
    const kept = read(file);
    if (kept !== undefined) {
      const known = edgeTable.byAccessKey(kept.access_key);
      if (known && kept.manager !== manager) {
        keep(file, { ...kept, manager });
      }
      return known?.id;
    }
    const { row, secretKey } = await tables.write(async (tx) => {
      // A start that was killed before its keys were kept has left an edge that no machine can be.
      const lost = (await edgeStore(tx).madeBy(self)).find(
        ({ id }) => edgeTable.byId(id)?.lastRegisteredAt === null,
      );
      return lost
        ? { row: lost, secretKey: await edgeSecrets.renew(tx, lost.id) }
        : await edges.insert(tx, {
            name: hostname(),
            description: 'The machine that the manager runs on.',
            labels: {},
            createdBy: self,
          });
    });
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const keys = {
      tunnel_path: tunnelPath,
      edge_id: row.id,
      access_key: row.access_key,
      secret_key: secretKey,
    };
    keep(file, {
      manager,
      name: row.name,
      ...keys,
      keys_sum: keysSum(keys),
    });
    await edgeTable.reload(row.id);
    return row.id;
  }
}

/** Undefined: there are none yet. Keys that are damaged are not made anew, since that would be another edge. */
function read(file: string): Kept | undefined {
  const text = readText(file);
  if (text === undefined) {
    return undefined;
  }
  const kept = parsed(text);
  // An earlier version kept no checksum.
  if (
    typeof kept?.access_key !== 'string' ||
    (kept.keys_sum !== undefined && kept.keys_sum !== keysSum(kept))
  ) {
    throw errors.local_keys_damaged({ file });
  }
  return kept;
}

function parsed(text: string): Kept | undefined {
  try {
    return JSON.parse(text) as Kept;
  } catch {
    return undefined;
  }
}

const keep = (file: string, content: object): void =>
  writeText(file, JSON.stringify(content, undefined, 2));
