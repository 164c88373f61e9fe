import { test } from 'node:test';

import { run as crash } from '../../drill/model-crash.ts';

test(
  'what was used is what the provider counted, however often svc is killed',
  { timeout: 240_000 },
  async () => {
    await crash({ rounds: 5 });
  },
);
