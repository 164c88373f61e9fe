import type { TraceIngest } from 'svc/contracts/traces';
import type { Handle, Ids, SelfRequest } from 'svc/sdk';

import type { Delivery } from './delivery.ts';
import { Feed } from './feed.ts';
import {
  exportOf,
  newTraceId,
  type RequestSpan,
  shareOf,
  spanOf,
  type SpanSource,
} from './request-span.ts';

export interface TraceFeedParts {
  readonly store: Handle<TraceIngest>;
  readonly delivery: Delivery;
  readonly ids: Ids;
  readonly source: SpanSource;
  /** Which share of ordinary requests is kept, and which are not ordinary. */
  readonly choice: () => { readonly ratio: number; readonly slowMs: number };
}

const maxItems = 2_000;
/** About what a span takes in memory; its texts are short, and bounded by the server. */
const spanBytes = 1_024;

/** Pushes are counted where they come in; a span for each would make a push out of every push. */
const unseen = 'ingest';

/** Requests on their way into the store as spans: the slow and the failed, and a share of the others. */
export class TraceFeed {
  readonly #ids: Ids;
  readonly #choice: TraceFeedParts['choice'];
  readonly #spans: Feed<TraceIngest, RequestSpan>;

  constructor({ store, delivery, ids, source, choice }: TraceFeedParts) {
    this.#ids = ids;
    this.#choice = choice;
    this.#spans = new Feed({
      signal: 'traces',
      delivery,
      store,
      batch: 500,
      maxItems,
      maxBytes: maxItems * spanBytes,
      sizeOf: () => spanBytes,
      give: (traces, spans) =>
        traces.push('otlp-json', Buffer.from(JSON.stringify(exportOf(spans, source))), {}),
    });
  }

  add(request: SelfRequest): void {
    if (request.plugin === unseen) {
      return;
    }
    const { ratio, slowMs } = this.#choice();
    const id = newTraceId(this.#ids);
    if (request.status >= 500 || request.durationMs >= slowMs || shareOf(id) < ratio) {
      this.#spans.add(spanOf(request, id, this.#ids));
    }
  }

  flush(): Promise<void> {
    return this.#spans.flush();
  }

  clear(): void {
    this.#spans.clear();
  }
}
