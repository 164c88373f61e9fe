import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { GateContract } from 'svc/contracts/gate';
import {
  definePlugin,
  type Handle,
  type PackLoader,
  type PackSource,
  type PluginContext,
  type PluginDefinition,
  type PluginManifest,
} from 'svc/sdk';

import { answersOf, noGate, tablesOf } from './answers.ts';
import { bringIn } from './bring-in.ts';
import { startChild } from './process/child.ts';
import type { Child, ChildState, StartOptions } from './process/child-options.ts';
import { type Confinement, firstUser, lastUser } from './process/confinement.ts';
import { IdleStart } from './process/idle-start.ts';
import type { ChildOrigin } from './process/program-file.ts';
import type { Acceptances } from './rights/acceptances.ts';
import { type ClosedFolders, readableFolders } from './rights/limits.ts';
import { stageFiles } from './staged-files.ts';
import type { PackDatabase } from './tables/pack-database.ts';

export interface LoaderOptions {
  readonly origin: ChildOrigin;
  readonly acceptances: Acceptances;
  /** Program of the process that holds a pack's tables. */
  readonly tables: ChildOrigin;
  /** Folders of svc, which no pack reads. */
  readonly closed: ClosedFolders;
  readonly random: () => number;
  /** Returns what the operating system offers to confine processes. */
  readonly confinement: () => Promise<Confinement>;
  /** Says which of their hosts packs may ask. */
  readonly gate: Handle<GateContract>;
}

/** State of a pack's process, or of its tables' process if that was ended. */
export interface ProcessFacts extends Pick<Child, 'cause' | 'restarts' | 'pid'> {
  readonly state: Child['state'] | PackDatabase['state'];
  readonly causeKind: Child['causeKind'] | PackDatabase['causeKind'];
}

/** The process of one generation of a pack. */
interface Running {
  readonly pack: PackSource;
  readonly child: Child;
  readonly tables: PackDatabase | undefined;
  /** The copy of its files that it reads. */
  readonly folder: string;
  /** User under which it runs, where the system offers one. */
  readonly user: number | undefined;
}

/** Time for its process to exit, after the time that a pack has to finish its work. */
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
    const { acceptances, gate } = this.#options;
    const waits = manifest.permissions.hosts.length > 0 && !gate.available;
    return acceptances.barred(manifest) ?? (waits ? `it calls hosts, and ${noGate}` : undefined);
  }

  load(pack: PackSource): PluginDefinition<unknown> {
    let serves = false;
    return definePlugin({
      activate: async (ctx) => {
        const { tables: origin, random, gate } = this.#options;
        const tables = tablesOf(pack, ctx, { origin, random });
        const confinement = await this.#options.confinement();
        // One with tables finds them once it serves: the generation before may still have them open.
        const child = this.#start(pack, ctx, {
          tables,
          serve: answersOf(pack, ctx, { tables, gate }),
          startsAtOnce: () => serves || tables === undefined,
          confinement,
        });
        bringIn(pack.manifest, ctx, child);
        await child.ready;
        return { child, tables };
      },
      start: async (_ctx, { child, tables }) => {
        serves = true;
        // A pack whose migrations fail does not serve at all.
        await tables?.open();
        if (pack.manifest.permissions.disk_mb > 0 && child.state !== 'asleep') {
          await child.call('start', undefined, { timeoutMs: pack.manifest.limits.activate_ms });
        }
      },
    });
  }

  /** Packs move to the loader that comes after this one, or go; a process that is still there when its time is over ends. */
  async leave(): Promise<void> {
    const late = new AbortController();
    await Promise.race([
      this.#allGone(),
      sleep(this.#longestMs(), undefined, { signal: late.signal }),
    ]);
    late.abort();
    const left = [...this.#running];
    left.forEach(({ pack }) =>
      pack.failed(
        'the plugin packs was replaced, and this pack did not come up with its new generation',
      ),
    );
    await Promise.all(left.map(({ child }) => child.stop()));
  }

  #start(
    pack: PackSource,
    ctx: PluginContext,
    {
      confinement,
      tables,
      ...given
    }: Pick<StartOptions, 'serve' | 'startsAtOnce'> &
      Pick<Running, 'tables'> & { confinement: Confinement },
  ): Child {
    const { log, clock, scope, generation, settings } = ctx;
    const { id, entry, permissions, limits, routes, events, skills } = pack.manifest;
    const { heap_mb: heapMb, rss_mb: rssMb, call_ms: callMs, activate_ms: startMs } = limits;
    const { origin, random, closed } = this.#options;
    const folder = stageFiles(id, pack.files, origin.cacheDir, (staged) => this.#reads(staged));
    const idleStart = new IdleStart(id, origin, folder);
    const user = this.#userFor(id, permissions.read.length > 0);
    const child = startChild({
      ...given,
      origin,
      random,
      label: `${id}#${generation}`,
      code: pack.code,
      filename: join(folder, entry!),
      read: [folder, ...readableFolders(permissions.read, closed)],
      network: permissions.network,
      described: {
        routes: routes.map(({ method, path }) => `${method} ${path}`),
        events,
        skills: skills.map(({ key }) => key),
      },
      settings: () =>
        Object.fromEntries(
          Object.keys(pack.manifest.settings).map((key) => [key, settings.get(key)]),
        ),
      startsAsleep: idleStart.isKnown,
      onUp: (isResident) => idleStart.remember(isResident),
      hold: { confinement, user },
      heapMb,
      rssMb,
      callMs,
      startMs,
      log,
      clock,
      onState: (state, cause = 'its process ended') => account(pack, state, cause),
    });
    const running = { pack, child, tables, folder, user };
    this.#running.add(running);
    scope.occupy(
      () => `pack process: ${child.state}${child.cause === undefined ? '' : ` (${child.cause})`}`,
      {
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
      },
    );
    return child;
  }

  /**
   * Returns a user of its own among all running packs; a pack that reads folders has the user of
   * svc, which has access to them.
   */
  #userFor(id: string, readsFolders: boolean): number | undefined {
    const taken = new Set(
      [...this.#running].filter(({ pack }) => pack.manifest.id !== id).map(({ user }) => user),
    );
    const span = lastUser - firstUser;
    const first = createHash('sha256').update(id).digest().readUInt32BE() % span;
    const free = Array.from(
      { length: span },
      (_, index) => firstUser + ((first + index) % span),
    ).find((user) => !taken.has(user));
    return readsFolders ? undefined : free;
  }

  /** Returns the state of a pack's process; undefined if none is running. */
  processOf(id: string): ProcessFacts | undefined {
    const running = [...this.#running].findLast(({ pack }) => pack.manifest.id === id);
    if (running?.tables?.cause === undefined || running.child.cause !== undefined) {
      return running?.child;
    }
    const { child, tables } = running;
    return {
      restarts: child.restarts,
      pid: child.pid,
      state: tables.state,
      cause: `the process for its tables ${tables.cause}`,
      causeKind: tables.causeKind,
    };
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
    return (
      Math.max(0, ...[...this.#running].map(({ pack }) => pack.manifest.limits.drain_ms)) + endMs
    );
  }
}

/** Charges what happens to a process to its pack. */
function account(pack: PackSource, state: ChildState, cause: string): void {
  if (state === 'failed') {
    pack.failed(cause);
  } else if (state === 'backing-off') {
    pack.stumbled(cause);
  }
}
