import { join } from 'node:path';

import { installation } from '../../core/boot/settings/product.ts';

/**
 * Flags for Node: a small young generation, no compilers and no threads for them, since an agent
 * does little, permanently.
 */
const agentFlags = [
  '--max-semi-space-size=1',
  '--no-opt',
  '--no-sparkplug',
  '--single-threaded-gc',
  '--v8-pool-size=0',
];

/** Program and first arguments that run `svc edge` of this installation; the single binary is its own program. */
export const agentCommand = (isBinary: boolean): readonly string[] =>
  isBinary
    ? [process.execPath]
    : [process.execPath, ...agentFlags, join(installation, 'bin', 'svc')];
