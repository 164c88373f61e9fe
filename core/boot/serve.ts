import { agentCommand } from './agent-command.ts';
import { banner } from './banner.ts';
import { runInForeground } from './foreground.ts';
import { startHouse } from './house.ts';
import type { Product } from './product.ts';
import type { Environment } from './settings.ts';

/** Runs the house in the foreground until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function serve(product: Product, environment: Environment): Promise<number> {
  const began = performance.now();
  return await runInForeground(
    () => startHouse({ product, environment, agent: agentCommand(product.embedded !== undefined) }),
    (house) => process.stderr.write(banner(product, house, Math.round(performance.now() - began))),
  );
}
