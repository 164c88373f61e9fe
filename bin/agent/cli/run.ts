import { serveEdge, testEdge } from '../index.ts';
import { edgeEnvironment } from '../data-dir.ts';
import { type Call, type Command, type ExitCode, printable } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';

export const command = {
  operands: [],
  options: {
    'self-test': {
      about:
        'only see whether this program could be the agent: it reads the folder, and proves the keys to the manager',
    },
  },
  about:
    'The agent of one host: "svc edge install" enrols it first. SIGTERM ends it in order. With --json every log line is JSON.',
  example: 'svc edge --data /var/lib/svc-edge',

  async run({ environment, json, has }: Call) {
    const own = edgeEnvironment(environment);
    const product = await currentProduct();
    if (has('self-test')) {
      const data = await testEdge(product, own);
      return {
        data,
        text: () =>
          `svc v${printable(data.version)} can be the agent of this machine for ${printable(data.manager)}`,
      };
    }
    const code = await serveEdge(product, json ? { ...own, SVC_LOG_FORMAT: 'json' } : own);
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
} satisfies Command;
