import { setTimeout as sleep } from 'node:timers/promises';

import {
  definePlugin,
  type PackLoader,
  type PackSource,
  type PluginContext,
  type PluginDefinition,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';

import { type Child, type ChildState, startChild } from './child.ts';
import type { ChildOrigin } from './program-file.ts';

export interface LoaderOptions {
  readonly origin: ChildOrigin;
  readonly random: () => number;
}

/** The process of one generation of a pack. */
interface Running {
  readonly pack: PackSource;
  readonly child: Child;
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
    const { heap_mb: heapMb, rss_mb: rssMb, call_ms: callMs, activate_ms: startMs } = pack.manifest.limits;
    const child = startChild({
      ...this.#options,
      label: `${pack.manifest.id}#${generation}`,
      code: pack.code,
      filename: pack.filename,
      read: [pack.folder, ...pack.manifest.permissions.read],
      heapMb,
      rssMb,
      callMs,
      startMs,
      log,
      clock,
      onState: (state, cause = 'its process ended') => account(pack, state, cause),
    });
    const running = { pack, child };
    this.#running.add(running);
    scope.occupy(() => `pack process: ${child.state}${child.cause === undefined ? '' : ` (${child.cause})`}`, {
      begin: () => undefined,
      end: async () => {
        await child.stop();
        this.#running.delete(running);
        this.#onGone();
      },
      endMs,
    });
    return child;
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
