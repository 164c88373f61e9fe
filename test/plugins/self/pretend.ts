import type { Line } from 'svc/contracts/logs';
import type { Enforced, PushAnswer, SampleRow } from 'svc/contracts/metricsdb';

/** A span as it was exported. */
export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, string>>;
  }[];
}

/** Creates stores that record what svc sent, and fail on demand. */
export function listeningStores() {
  const heard = {
    rows: [] as SampleRow[][],
    ended: [] as (readonly Enforced[])[],
    lines: [] as Line[],
    spans: [] as Span[],
    resources: [] as unknown[],
  };
  const trouble: { error: Error | undefined } = { error: undefined };
  const took = (count: number): PushAnswer => {
    if (trouble.error) {
      throw trouble.error;
    }
    return { accepted: count, rejected: 0, reasons: [] };
  };
  const services = {
    'metrics.ingest': {
      async write(rows: SampleRow[]) {
        const answer = took(rows.length);
        heard.rows.push(rows);
        return answer;
      },
      async end(matchers: readonly Enforced[]) {
        heard.ended.push(matchers);
        return 1;
      },
    },
    'logs.ingest': {
      async write(lines: Line[]) {
        const answer = took(lines.length);
        heard.lines.push(...lines);
        return answer;
      },
    },
    'traces.ingest': {
      async push(format: string, body: Uint8Array) {
        const { resourceSpans } = JSON.parse(Buffer.from(body).toString()) as {
          resourceSpans: { resource: unknown; scopeSpans: { spans: Span[] }[] }[];
        };
        const spans = resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap((scope) => scope.spans),
        );
        const answer = took(spans.length);
        heard.resources.push(format, ...resourceSpans.map(({ resource }) => resource));
        heard.spans.push(...spans);
        return answer;
      },
    },
  };
  return { heard, trouble, services };
}
