import { setFlagsFromString } from 'node:v8';

import { agentCommand } from './agent-command.ts';
import { banner } from './banner.ts';
import { explainedGround } from './ground.ts';
import { runInForeground } from './foreground.ts';
import { tellSystemd } from '../service/from-systemd.ts';
import { standInFront } from './priority.ts';
import { messageOf } from '../../core/sdk/index.ts';
import { type BootOptions, boot } from '../../core/boot/boot.ts';
import { sourceBundler } from '../bundler/sources.ts';
import { watchFolders } from '../watcher/watch.ts';

/** By default V8 lets garbage grow to three times what lives before it looks, where the machine has memory: svc shares the machine. */
const heapFlags = ['--heap-growing-percent=50'];

/** Runs svc in the foreground until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function serve(options: BootOptions, ready: (dataDir: string) => void = () => undefined): Promise<number> {
  const { product } = options;
  const began = performance.now();
  // Read by `npm run bench boot`, as those of the boot are.
  performance.mark('boot: modules');
  heapFlags.forEach((flag) => setFlagsFromString(flag));
  // Nothing is wrong without it: where cores are scarce, answers only come later.
  const unmoved = (error: unknown): void => void process.stderr.write(`svc: could not raise the priority of the request thread: ${messageOf(error)}\n`);
  const standing = standInFront().catch((error: unknown) => () => unmoved(error));
  return await runInForeground(
    async () => {
      const others = await standing;
      const running = await boot({ watch: watchFolders, ...options, bundler: sourceBundler, agent: agentCommand(product.embedded !== undefined) }).catch(
        (error: unknown) => {
          throw explainedGround(error);
        },
      );
      try {
        others();
      } catch (error) {
        unmoved(error);
      }
      return running;
    },
    (running) => {
      ready(running.dataDir);
      process.stderr.write(banner(product, running, Math.round(performance.now() - began)));
      tellSystemd(options.environment, (line) => process.stderr.write(`${line}\n`));
    },
  );
}
