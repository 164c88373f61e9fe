import type { ExitCode, Serving, Stoppable } from 'svc/cli';

import { boot } from '../../core/boot/boot.ts';
import type { PluginHost } from '../../core/host/index.ts';
import { sourceBundler } from '../bundler/sources.ts';
import { currentProduct } from '../product/product.ts';
import { watchFolders } from './watcher/watch.ts';
import { agentCommand } from './agent-command.ts';
import { runInForeground } from './foreground.ts';

/** All of svc in the process of a command, which keeps its log to itself. */
export class WholeSvc {
  #host: PluginHost | undefined;

  async serve(environment: Readonly<Record<string, string>>): Promise<Serving> {
    const product = await currentProduct();
    const { url, dataDir, operatorToken, host, stop } = await boot({
      product,
      environment,
      bundler: sourceBundler,
      watch: watchFolders,
      agent: agentCommand(product.embedded !== undefined),
      writeLog: () => undefined,
    });
    this.#host = host;
    return { url, dataDir, token: operatorToken, stop };
  }

  /** Charges an uncaught error to the plugin that caused it. */
  async foreground<R extends Stoppable>(
    start: () => Promise<R>,
    opened: (running: R) => void,
  ): Promise<ExitCode> {
    const code = await runInForeground(
      async () => {
        const running = await start();
        return {
          running,
          host: this.#host ?? { strike: () => undefined },
          stop: (reason: string) => running.stop(reason),
        };
      },
      ({ running }) => opened(running),
    );
    return code as ExitCode;
  }
}
