import type { Handle, Ids, SelfRequest } from 'svc/sdk';

import type { TraceIngest } from '../traces/contract.ts';
import { createFeed, type Feed } from './feed.ts';
import type { Keeper } from './keeper.ts';
import { exportOf, newTraceId, type RequestSpan, shareOf, spanOf, type SpanSource } from './request-span.ts';

export interface TraceFeedParts {
  readonly store: Handle<TraceIngest>;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly source: SpanSource;
  /** Which share of ordinary requests is kept, and which are not ordinary. */
  readonly choice: () => { readonly ratio: number; readonly slowMs: number };
}

const mostItems = 2_000;
/** About what a span takes in memory; its texts are short, and bounded by the server. */
const spanBytes = 1_024;

/** Pushes are counted where they come in; a span for each would make a push out of every push. */
const unseen = 'ingest';

/** Requests on their way into the store as spans: the slow and the failed, and a share of the others. */
export function traceFeed({ store, keeper, ids, source, choice }: TraceFeedParts): Feed<SelfRequest> {
  const feed = createFeed<TraceIngest, RequestSpan>({
    signal: 'traces',
    keeper,
    store,
    batch: 500,
    mostItems,
    mostBytes: mostItems * spanBytes,
    sizeOf: () => spanBytes,
    give: (traces, spans) => traces.push('otlp-json', Buffer.from(JSON.stringify(exportOf(spans, source))), {}),
  });
  return {
    ...feed,
    take(request) {
      if (request.plugin === unseen) {
        return;
      }
      const { ratio, slowMs } = choice();
      const id = newTraceId(ids);
      const isTold = request.status >= 500 || request.durationMs >= slowMs || shareOf(id) < ratio;
      if (isTold) {
        feed.take(spanOf(request, id, ids));
      }
    },
  };
}
