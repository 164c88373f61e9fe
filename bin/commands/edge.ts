import { serveEdge } from '../../core/boot/edge.ts';
import { edgeEnvironment } from '../edge/data-dir.ts';
import type { Command } from '../cli/command.ts';
import type { ExitCode } from '../cli/failure.ts';
import { currentProduct } from '../product.ts';

export const command: Command = {
  operands: [],
  options: {},
  about: 'The agent of one host: "svc edge install" enrols it first. SIGTERM ends it in order. With --json every log line is JSON.',
  example: 'svc edge --data /var/lib/svc-edge',

  async run({ environment, json }) {
    const own = edgeEnvironment(environment);
    const code = await serveEdge(await currentProduct(), json ? { ...own, SVC_LOG_FORMAT: 'json' } : own);
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
};
