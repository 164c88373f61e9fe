import { bootAgent } from './agent.ts';
import { proxyEnvironment } from './proxy.ts';
import { runInForeground } from '../serve/foreground.ts';
import type { Product } from '../../core/boot/settings/product.ts';
import type { Environment } from '../../core/boot/settings/settings.ts';

/** Runs svc of an edge in the foreground until a signal ends it. */
export async function serveEdge(product: Product, environment: Environment): Promise<number> {
  return await runInForeground(
    () => bootAgent({ product, environment: { ...environment, ...proxyEnvironment(environment) } }),
    ({ dataDir, host }) => {
      const active = host.list().filter(({ state }) => state === 'active').length;
      process.stderr.write(
        `svc v${product.version} edge: data in ${dataDir}, ${active} plugins active. Stop with Ctrl-C.\n`,
      );
    },
  );
}
