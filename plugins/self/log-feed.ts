import type { Line, LogIngest } from 'svc/contracts/logs';
import type { Handle, SelfLine } from 'svc/sdk';

import type { Delivery } from './delivery.ts';
import { Feed } from './feed.ts';

export interface LogFeedParts {
  readonly store: Handle<LogIngest>;
  readonly delivery: Pick<Delivery, 'deliver' | 'countLost' | 'isDelivering'>;
  readonly instance: string;
}

/**
 * Lines on their way into the store. Those about storing lines are left out, or storing one would make the next: what this
 * plugin logs, and what the store logs while a batch is on its way into it.
 */
export class LogFeed extends Feed<LogIngest, SelfLine> {
  readonly #delivery: Pick<Delivery, 'isDelivering'>;

  constructor({ store, delivery, instance }: LogFeedParts) {
    super({
      signal: 'logs',
      delivery,
      store,
      batch: 1_000,
      maxItems: 5_000,
      maxBytes: 4 * 1024 * 1024,
      sizeOf: ({ text }) => text.length,
      give: (logs, lines) => logs.write(lines.map((line) => lineOf(line, instance))),
    });
    this.#delivery = delivery;
  }

  override add(line: SelfLine): void {
    if (
      line.component !== 'self' &&
      !(line.component === 'logs' && this.#delivery.isDelivering('logs'))
    ) {
      super.add(line);
    }
  }
}

const lineOf = ({ at, level, text }: SelfLine, instance: string): Line => ({
  labels: { service_name: 'svc', level, instance },
  at: { ms: at, ns: 0 },
  line: text,
});
