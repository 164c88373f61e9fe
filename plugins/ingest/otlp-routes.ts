import type { Signal } from 'svc/contracts/ingest';
import type { PushAnswer, PushStore } from 'svc/contracts/metricsdb';
import type {
  ErrorCode,
  ErrorWording,
  Handle,
  RequestHeaders,
  RouteDeclaration,
  ShownError,
} from 'svc/sdk';
import { ProtoWriter } from 'svc/store';

import { encodingOf, mediaType } from './encoding.ts';
import type { PushGate } from './push-gate.ts';
import { pushRoute } from './push-route.ts';
import { demandBody, type Pusher } from './push.ts';
import type { Stores } from './stores.ts';

/** Field of the reply that counts what was refused. */
const counted: Readonly<Record<Signal, string>> = {
  metrics: 'rejectedDataPoints',
  logs: 'rejectedLogRecords',
  traces: 'rejectedSpans',
};

/**
 * Paths that exporters use: at the root, below one base for the three signals, and below the base
 * addresses of Loki and Prometheus.
 */
const paths: readonly (readonly [path: string, signal: Signal])[] = [
  ['/v1/metrics', 'metrics'],
  ['/v1/logs', 'logs'],
  ['/v1/traces', 'traces'],
  ['/otlp/v1/metrics', 'metrics'],
  ['/otlp/v1/logs', 'logs'],
  ['/otlp/v1/traces', 'traces'],
  ['/loki/otlp/v1/logs', 'logs'],
  ['/prometheus/api/v1/otlp/v1/metrics', 'metrics'],
];

const nothing = { accepted: 0, rejected: 0, reasons: [] };

/**
 * Routes for OTLP over HTTP, in protobuf and JSON; refused parts of an export are reported in a
 * successful reply.
 */
export const otlpRoutes = (
  gate: PushGate,
  push: Pusher,
  stores: Stores,
): readonly RouteDeclaration[] =>
  paths.map(([path, signal]) =>
    pushRoute(gate, {
      path,
      summary: `Export ${signal} via OTLP over HTTP`,
      consumes: [protobufType, 'application/protobuf', jsonType],
      produces: protobufType,
      wording: statusWording,
      async handle(call) {
        const json = speaksJson(call.headers);
        const encoding = encodingOf(call.headers['content-encoding'], ['gzip', 'snappy']);
        if (json) {
          demandBody(call);
          call.setHeader('content-type', jsonType);
        }
        const store: Handle<PushStore<'otlp-proto' | 'otlp-json'>> = stores[signal];
        // In protobuf an export of nothing has no bytes.
        const answer =
          call.body.length === 0
            ? nothing
            : await push(call, {
                signal,
                store,
                format: json ? 'otlp-json' : 'otlp-proto',
                encoding,
              });
        return exportAnswer(answer, counted[signal], json);
      },
    }),
  );

const protobufType = 'application/x-protobuf';
const jsonType = 'application/json';

const speaksJson = (headers: RequestHeaders): boolean =>
  mediaType(headers['content-type']).type === jsonType;

/** The reply of an export: empty, or how many were refused and why; none refused and a reason is a warning. `counted` is the JSON name of that count. */
function exportAnswer(
  { rejected, reasons }: PushAnswer,
  counted: string,
  json: boolean,
): string | Uint8Array {
  const message = reasons.join('; ');
  if (json) {
    return JSON.stringify({
      partialSuccess: message === '' ? {} : { [counted]: String(rejected), errorMessage: message },
    });
  }
  const reply = new ProtoWriter();
  if (message !== '') {
    reply.message(1, (partial) => partial.int64(1, rejected).string(2, message));
  }
  return reply.finish();
}

/** A status as gRPC knows it, in the language of the request. */
function statusWording({ code, message }: ShownError, headers: RequestHeaders): ErrorWording {
  const number = grpcCodes[code] ?? grpcCodes.internal;
  return speaksJson(headers)
    ? { type: jsonType, body: JSON.stringify({ code: number, message }) }
    : { type: protobufType, body: new ProtoWriter().uint(1, number).string(2, message).finish() };
}

const grpcCodes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 3,
  not_found: 5,
  forbidden: 7,
  rate_limited: 8,
  budget_exceeded: 8,
  conflict: 10,
  internal: 13,
  unavailable: 14,
  upstream_error: 14,
  unauthorized: 16,
};
