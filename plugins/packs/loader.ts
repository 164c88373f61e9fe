import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  definePlugin,
  type PackLoader,
  type PackSource,
  type PluginContext,
  type PluginDefinition,
  type PluginManifest,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';

import { type Child, type ChildState, startChild } from './child.ts';
import type { ChildOrigin } from './program-file.ts';
import type { Acceptances } from './rights/acceptances.ts';
import { type ClosedFolders, readableFolders } from './rights/limits.ts';
import { stageFiles } from './staged-files.ts';

export interface LoaderOptions {
  readonly origin: ChildOrigin;
  readonly acceptances: Acceptances;
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

  barred(manifest: PluginManifest): string | undefined {
    return this.#options.acceptances.barred(manifest);
  }

  load(pack: PackSource): PluginDefinition {
    return definePlugin({
      activate: async (ctx) => {
        const child = this.#start(pack, ctx);
        ctx.http.routes(pack.manifest.routes.map((described) => proxied(described, child)));
        await child.ready;
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

  #start(pack: PackSource, { log, clock, scope, generation }: PluginContext): Child {
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

function proxied(described: PackSource['manifest']['routes'][number], child: Pick<Child, 'call'>): RouteDeclaration {
  const { method, path, access, summary, body, response } = described;
  const key = `${method} ${path}`;
  return route({
    method,
    path,
    summary,
    access: access as never,
    ...(body && { body: body as never }),
    response: (response ?? {}) as never,
    handle: async (call) =>
      (await child.call(
        'route',
        { key, call: { params: call.params, query: call.query, body: call.body, principal: publicFacts(call.principal) } },
        { signal: call.signal },
      )) as never,
  });
}

const publicFacts = ({ id, kind, role }: Principal) => ({ id, kind, role });
