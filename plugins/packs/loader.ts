import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { definePlugin, type PackLoader, type PackSource, type PluginContext, type PluginDefinition, type PluginManifest, SvcError } from 'svc/sdk';

import { bringIn } from './bring-in.ts';
import { type Child, type ChildState, startChild, type StartOptions } from './child.ts';
import type { ChildOrigin } from './program-file.ts';
import type { Acceptances } from './rights/acceptances.ts';
import { type ClosedFolders, readableFolders } from './rights/limits.ts';
import { stageFiles } from './staged-files.ts';
import type { TablesData } from './tables/pack-tables.ts';

export interface LoaderOptions {
  readonly origin: ChildOrigin;
  readonly acceptances: Acceptances;
  readonly threads: PackLoader['threads'];
  /** Folders of svc, which no pack reads. */
  readonly closed: ClosedFolders;
  readonly random: () => number;
}

/** The process of one generation of a pack. */
interface Running {
  readonly pack: PackSource;
  readonly child: Child;
  /** The copy of its files that it reads. */
  readonly folder: string;
}

/** After the time a pack has to finish its work, for its process to end. */
const endMs = 10_000;

/** Turns packs with code into plugins of this host: a manifest describes their routes, their own process answers. */
export class Loader implements PackLoader {
  readonly #options: LoaderOptions;
  readonly #running = new Set<Running>();
  /** Called whenever a process is gone. */
  #onGone = (): void => undefined;

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  runs(id: string): boolean {
    return [...this.#running].some(({ pack }) => pack.manifest.id === id);
  }

  barred(manifest: PluginManifest): string | undefined {
    return this.#options.acceptances.barred(manifest);
  }

  get threads(): PackLoader['threads'] {
    return this.#options.threads;
  }

  load(pack: PackSource): PluginDefinition<unknown> {
    let serves = false;
    return definePlugin({
      activate: async (ctx) => {
        const tables = tablesOf(pack, ctx);
        // One with tables finds them once it serves: the generation before may still have them open.
        const child = this.#start(pack, ctx, tables, () => serves || tables === undefined);
        bringIn(pack.manifest, ctx, child);
        await child.ready;
        return child;
      },
      start: async (_ctx, child) => {
        serves = true;
        if (pack.manifest.permissions.disk_mb > 0) {
          await child.call('start', undefined, { timeoutMs: pack.manifest.limits.activate_ms });
        }
      },
    });
  }

  /** Packs move to the loader that comes after this one, or go; a process that is still there when its time is over ends. */
  async leave(): Promise<void> {
    const late = new AbortController();
    await Promise.race([this.#allGone(), sleep(this.#longestMs(), undefined, { signal: late.signal })]);
    late.abort();
    const left = [...this.#running];
    left.forEach(({ pack }) => pack.failed('the plugin packs was replaced, and this pack did not come up with its new generation'));
    await Promise.all(left.map(({ child }) => child.stop()));
  }

  #start(pack: PackSource, ctx: PluginContext, serve: StartOptions['serve'] | undefined, startsAtOnce: () => boolean): Child {
    const { log, clock, scope, generation, settings } = ctx;
    const { id, entry, permissions, limits } = pack.manifest;
    const { heap_mb: heapMb, rss_mb: rssMb, call_ms: callMs, activate_ms: startMs } = limits;
    const { origin, random, closed } = this.#options;
    const folder = stageFiles(id, pack.files, origin.cacheDir, (staged) => this.#reads(staged));
    const child = startChild({
      origin,
      random,
      label: `${id}#${generation}`,
      code: pack.code,
      filename: join(folder, entry!),
      read: [folder, ...readableFolders(permissions.read, closed)],
      network: permissions.network,
      settings: () => Object.fromEntries(Object.keys(pack.manifest.settings).map((key) => [key, settings.get(key)])),
      startsAtOnce,
      ...(serve && { serve }),
      heapMb,
      rssMb,
      callMs,
      startMs,
      log,
      clock,
      onState: (state, cause = 'its process ended') => account(pack, state, cause),
    });
    const running = { pack, child, folder };
    this.#running.add(running);
    scope.occupy(() => `pack process: ${child.state}${child.cause === undefined ? '' : ` (${child.cause})`}`, {
      begin: () => undefined,
      end: async () => {
        await child.stop();
        this.#running.delete(running);
        if (!this.#reads(folder)) {
          rmSync(folder, { recursive: true, force: true });
        }
        this.#onGone();
      },
      endMs,
    });
    return child;
  }

  #reads(folder: string): boolean {
    return [...this.#running].some((running) => running.folder === folder);
  }

  #allGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#onGone = () => (this.#running.size === 0 ? resolve() : undefined);
      this.#onGone();
    });
  }

  #longestMs(): number {
    return Math.max(0, ...[...this.#running].map(({ pack }) => pack.manifest.limits.drain_ms)) + endMs;
  }
}

/** What happens to a process goes on the account of its pack. */
function account(pack: PackSource, state: ChildState, cause: string): void {
  if (state === 'failed') {
    pack.failed(cause);
  } else if (state === 'backing-off') {
    pack.stumbled(cause);
  }
}

const heapMb = 64;

/** Answers what a pack asks of its tables, which a thread keeps; undefined for a pack that has none. */
function tablesOf({ manifest, files }: PackSource, ctx: PluginContext): ((method: string, input: unknown) => Promise<unknown>) | undefined {
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
