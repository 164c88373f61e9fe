import { test } from 'node:test';

import { run as crash } from '../../drill/model-crash.ts';
import { rounds } from '../../drill/rounds.ts';

test(
  'what was used is what the provider counted, however often svc is killed',
  { timeout: 240_000 },
  async () => {
    await crash({ rounds: rounds(1, 5) });
  },
);
