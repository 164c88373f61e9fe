import type { Handle, SelfLine } from 'svc/sdk';

import type { Line, LogIngest } from '../logs/contract.ts';
import { createFeed, type Feed } from './feed.ts';
import type { Keeper } from './keeper.ts';

export interface LogFeedParts {
  readonly store: Handle<LogIngest>;
  readonly keeper: Keeper;
  readonly instance: string;
}

/**
 * Lines on their way into the store. Those about keeping lines are left out, or keeping one would make the next: what this
 * plugin says, and what the store says while a batch is on its way into it.
 */
export function logFeed({ store, keeper, instance }: LogFeedParts): Feed<SelfLine> {
  const feed = createFeed<LogIngest, SelfLine>({
    signal: 'logs',
    keeper,
    store,
    batch: 1_000,
    mostItems: 5_000,
    mostBytes: 4 * 1024 * 1024,
    sizeOf: ({ text }) => text.length,
    give: (logs, lines) => logs.write(lines.map((line) => lineOf(line, instance))),
  });
  return {
    ...feed,
    take(line) {
      if (line.component !== 'self' && !(line.component === 'logs' && keeper.isKeeping('logs'))) {
        feed.take(line);
      }
    },
  };
}

const lineOf = ({ at, level, text }: SelfLine, instance: string): Line => ({
  labels: { service_name: 'svc', level, instance },
  at: { ms: at, ns: 0 },
  line: text,
});
