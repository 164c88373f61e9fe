import { settle } from '../product/agent.mjs';
import type { CodeCache } from '../product/code-cache.mjs';
import { agentCommand } from './agent-command.ts';
import { banner } from './banner.ts';
import { explainedGround } from './ground.ts';
import { runInForeground } from './foreground.ts';
import { tellSystemd } from './service/from-systemd.ts';
import { standInFront } from './priority.ts';
import { messageOf } from '../../core/sdk/index.ts';
import { type BootOptions, boot, placesOf, type RunningCore } from '../../core/boot/boot.ts';
import { sourceBundler } from '../bundler/sources.ts';
import { isFull, waitForSpace } from './wait-for-space.ts';
import type { Node } from './nodes/node.ts';
import { watchFolders } from './watcher/watch.ts';

/**
 * Code cache, defined by the loader of this program for what is loaded next; undefined if the
 * sources run directly.
 */
declare const codeCache: CodeCache | undefined;

/**
 * Delay until the first requests have been answered: the code that they needed is cached as well.
 */
const keepAfterMs = 2_000;

/** Runs svc in the foreground until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function serve(
  options: BootOptions,
  ready: (running: RunningCore) => void = () => undefined,
): Promise<number> {
  const { product } = options;
  const began = performance.now();
  // Read by `npm run bench boot`, as those of the boot are.
  performance.mark('boot: modules');
  // Nothing is wrong without it: where cores are scarce, answers only come later.
  const unmoved = (error: unknown): void =>
    void process.stderr.write(
      `svc: could not raise the priority of the request thread: ${messageOf(error)}\n`,
    );
  const standing = standInFront().catch((error: unknown) => () => unmoved(error));
  const cache = typeof codeCache === 'undefined' ? undefined : codeCache;
  const bundler: BootOptions['bundler'] = (folder) => ({
    ...sourceBundler(folder),
    // One that imports while it runs could not do so from there.
    functionOf:
      cache &&
      ((code, filename) =>
        /\bimport\s*\(/.test(code) ? undefined : cache.functionOf(code, filename)),
  });
  let node: Node | undefined;
  const houses = {
    boot: () =>
      bootWithSpace({
        watch: watchFolders,
        ...options,
        bundler,
        agent: agentCommand(product.embedded !== undefined),
        async node(base) {
          const url = base.settings.get<string>('data.database_url');
          if (url === '') {
            return undefined;
          }
          node ??= await (await import('./nodes/node.ts')).Node.open(base, url, houses);
          return await node.port();
        },
      }),
    opened(house: RunningCore): void {
      ready(house);
      process.stderr.write(banner(product, house, Math.round(performance.now() - began)));
      setTimeout(() => void endStart(cache), keepAfterMs).unref();
    },
    end(reason: string): never {
      process.stderr.write(`svc: ${reason}\n`);
      process.exit(1);
    },
  };
  return await runInForeground(
    async () => {
      const others = await standing;
      const running = await begin(houses, () => node);
      try {
        others();
      } catch (error) {
        unmoved(error);
      }
      return running;
    },
    (running) => {
      // First, so that nothing that is only shown keeps a unit in "activating".
      tellSystemd(options.environment, (line) => process.stderr.write(`${line}\n`));
      if ('registry' in running) {
        houses.opened(running);
      }
    },
  );
}

/** Starts the house, or over Postgres a node, which has one or stands by. */
async function begin(
  { boot: start }: { readonly boot: () => Promise<RunningCore> },
  found: () => Node | undefined,
): Promise<RunningCore | Node> {
  let house: RunningCore | undefined;
  try {
    house = await start();
    await found()?.begin(house);
    return found() ?? house;
  } catch (error) {
    const node = found();
    try {
      if (house !== undefined || node?.standsBy !== true) {
        throw error;
      }
      await node.begin(undefined);
      return node;
    } catch (reason) {
      await house?.stop('this node cannot start');
      await node?.leave();
      throw reason;
    }
  }
}

/** Keeps what the engine has compiled, under the flags of the start, and then sets those of the time after it. */
async function endStart(cache: CodeCache | undefined): Promise<void> {
  await cache?.keep();
  settle();
}

/** Boots svc as soon as there is space for it; any other reason not to start is told at once. */
async function bootWithSpace(options: BootOptions): Promise<RunningCore> {
  for (;;) {
    try {
      return await boot(options);
    } catch (error) {
      if (!isFull(error)) {
        throw explainedGround(error);
      }
      const { dataDir, address } = placesOf(options);
      await waitForSpace(dataDir, address, (line) => process.stderr.write(`svc: ${line}\n`));
    }
  }
}
