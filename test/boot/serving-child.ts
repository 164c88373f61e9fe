import 'reflect-metadata';

import { programPoints } from '../../bin/manifest/points.ts';
import { serve } from '../../bin/serve/serve.ts';
import { messageOf } from '../../core/sdk/index.ts';

/** Serves the product in the folder that is given, as `svc serve` would. */
process.exitCode = await serve({
  product: { version: '0.0.1', root: process.argv[2]! },
  environment: process.env,
  points: programPoints,
}).catch((error: unknown) => {
  process.stderr.write(`svc cannot start: ${messageOf(error)}\n`);
  return 1;
});
