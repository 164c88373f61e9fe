import type { BootOptions } from '../../core/boot/index.ts';
import { serve } from '../serve/serve.ts';
import { AutomaticBackups } from '../backup/automatic-backups.ts';
import { finishRestore } from '../backup/swap.ts';
import type { Command } from '../cli/command.ts';
import type { ExitCode } from '../cli/failure.ts';
import { withCredentials } from '../service/from-systemd.ts';
import { currentProduct } from '../product.ts';
import { TrialStart } from '../update/trial-start.ts';

export const command: Command = {
  operands: [],
  options: {},
  about: 'Ready when /readyz answers 200. SIGTERM and SIGINT let requests finish first; a second one ends at once. With --json every log line is JSON.',
  example: 'SVC_HTTP_ADDR=127.0.0.1:9000 svc serve --data /var/lib/svc',

  async run({ environment, json }) {
    const product = await currentProduct();
    const trial = new TrialStart(product.embedded?.nativeBinding);
    const options: BootOptions = {
      product,
      environment: withCredentials(json ? { ...environment, SVC_LOG_FORMAT: 'json' } : environment),
      safeguard: (dataDir) => {
        trial.begin(dataDir);
        finishRestore(dataDir, product.embedded?.nativeBinding);
        return new AutomaticBackups(dataDir, product);
      },
    };
    const code = await serve(options, (dataDir) => trial.ready(dataDir));
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
};
