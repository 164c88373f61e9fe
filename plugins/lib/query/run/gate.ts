import { ConcurrencyGate } from 'svc/flow';

import { errors } from './errors.ts';
import { queryError } from './query-error.ts';

/** Lets few queries work at a time, so that each ends soon, and some more wait; a dashboard that opens is never refused for its size. */
export const queryGate = ({
  atOnce = 4,
  waiting = 64,
}: { readonly atOnce?: number; readonly waiting?: number } = {}): ConcurrencyGate =>
  new ConcurrencyGate({
    atOnce,
    waiting,
    full: (load) =>
      errors.too_many_queries(
        { running: load.running, waiting: load.waiting },
        { retryAfterSeconds: 1 },
      ),
    canceled: () => queryError('canceled', 'the query was canceled before it began'),
  });
