import type { Served } from './application.ts';

const server = 2;
const ok = 1;
const error = 2;
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

/** An export of OTLP in JSON of what a service has served. */
export const spanExport = (service: string, served: readonly Served[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
          scopeSpans: [{ scope: { name: 'edge-sim' }, spans: served.map(spanOf) }],
        },
      ],
    }),
  );

const spanOf = ({ traceId, spanId, parentId, start, ms, failure }: Served): object => ({
  ...{ traceId, spanId, parentSpanId: parentId, name: 'serve', kind: server },
  ...{ startTimeUnixNano: nanoseconds(start), endTimeUnixNano: nanoseconds(start + ms) },
  status: failure === undefined ? { code: ok } : { code: error, message: failure },
});
