import { setFlagsFromString } from 'node:v8';

import { agentCommand } from './agent-command.ts';
import { banner } from './banner.ts';
import { runInForeground } from './foreground.ts';
import { standInFront } from '../isolate/index.ts';
import { messageOf } from '../sdk/index.ts';
import { type HouseOptions, startHouse } from './house.ts';

/** By default V8 lets garbage grow to three times what lives before it looks, where the machine has memory: svc shares the machine. */
const heapFlags = ['--heap-growing-percent=50'];

/** Runs the house in the foreground until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function serve(options: HouseOptions): Promise<number> {
  const { product } = options;
  const began = performance.now();
  heapFlags.forEach((flag) => setFlagsFromString(flag));
  // Nothing is wrong without it: where cores are scarce, answers only come later.
  const unmoved = (error: unknown): void => void process.stderr.write(`svc: requests do not go before other work: ${messageOf(error)}\n`);
  const standing = standInFront().catch((error: unknown) => () => unmoved(error));
  return await runInForeground(
    async () => {
      const others = await standing;
      const house = await startHouse({ ...options, agent: agentCommand(product.embedded !== undefined) });
      try {
        others();
      } catch (error) {
        unmoved(error);
      }
      return house;
    },
    (house) => process.stderr.write(banner(product, house, Math.round(performance.now() - began))),
  );
}
