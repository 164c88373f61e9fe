import { serveEdge, testEdge } from '../index.ts';
import { edgeEnvironment } from '../data-dir.ts';
import { type Call, type Command, type ExitCode, printable } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';

export const command = {
  operands: [],
  options: {
    'self-test': {
      about:
        'only check that this program can run as the agent: that it can read the data folder and authenticate to the manager',
    },
  },
  about:
    'Runs the agent on a host that was enrolled with "svc edge install". SIGTERM stops it cleanly. With --json, every log line is JSON.',
  example: 'svc edge --data /var/lib/svc-edge',

  async run({ environment, json, has }: Call) {
    const own = edgeEnvironment(environment);
    const product = await currentProduct();
    if (has('self-test')) {
      const data = await testEdge(product, own);
      return {
        data,
        text: () =>
          `svc v${printable(data.version)} can run as the agent of this machine for ${printable(data.manager)}`,
      };
    }
    const code = await serveEdge(product, json ? { ...own, SVC_LOG_FORMAT: 'json' } : own);
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
} satisfies Command;
