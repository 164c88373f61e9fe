import type { MetricsIngest, PushAnswer } from 'svc/contracts/metricsdb';
import { type Handle, isSvcError, type RouteDeclaration, SvcError } from 'svc/sdk';

import { encodingOf, mediaType } from './encoding.ts';
import { errors } from './errors.ts';
import type { PushGate } from './push-gate.ts';
import { plainWording, pushRoute } from './push-route.ts';
import { demandBody, type PushCall, type Pusher } from './push.ts';

const produces = 'text/plain; charset=utf-8';

/**
 * Routes for protocols of metrics besides OTLP: Prometheus remote write in both versions, and its
 * text format.
 */
export const writeRoutes = (
  gate: PushGate,
  push: Pusher,
  store: Handle<MetricsIngest>,
): readonly RouteDeclaration[] => [
  ...['/api/v1/write', '/prometheus/api/v1/write'].map((path) =>
    pushRoute(gate, {
      path,
      summary: 'Push metrics via Prometheus remote write, version 1 or 2',
      consumes: ['application/x-protobuf'],
      produces,
      wording: plainWording,
      async handle(call) {
        const format = versionOf(call);
        // Senders of the first days left the header out; the body is snappy all the same.
        const encoding = encodingOf(call.headers['content-encoding'], ['snappy']) ?? 'snappy';
        demandBody(call);
        answer(
          call,
          await counted(push(call, { signal: 'metrics', store, format, encoding })),
          true,
        );
      },
    }),
  ),
  pushRoute(gate, {
    path: '/api/v1/import/prometheus',
    summary: 'Push metrics in the Prometheus text format',
    consumes: ['text/plain', 'application/openmetrics-text'],
    produces,
    wording: plainWording,
    async handle(call) {
      const encoding = encodingOf(call.headers['content-encoding'], ['gzip', 'snappy']);
      demandBody(call);
      const format =
        mediaType(call.headers['content-type']).type === 'application/openmetrics-text'
          ? 'openmetrics'
          : 'exposition';
      answer(call, await push(call, { signal: 'metrics', store, format, encoding }), false);
    },
  }),
];

/** The message that the Content-Type names; without a name it is the one that came first. */
function versionOf({ headers }: PushCall): 'remote-write' | 'remote-write-2' {
  const message =
    mediaType(headers['content-type']).parameter('proto') ?? 'prometheus.WriteRequest';
  switch (message) {
    case 'prometheus.WriteRequest':
      return 'remote-write';
    case 'io.prometheus.write.v2.Request':
      return 'remote-write-2';
    default:
      throw errors.unknown_message({ message: message.slice(0, 100) });
  }
}

const writtenHeaders = (samples: number, exemplars: number): Readonly<Record<string, string>> => ({
  'x-prometheus-remote-write-samples-written': String(samples),
  'x-prometheus-remote-write-histograms-written': '0',
  'x-prometheus-remote-write-exemplars-written': String(exemplars),
});

/** Reports zero written samples for a request that is refused as a whole. */
const counted = (pushing: Promise<PushAnswer>): Promise<PushAnswer> =>
  pushing.catch((error: unknown) => {
    throw isSvcError(error) && error.code === 'invalid_argument'
      ? new SvcError(error.code, error.message, {
          reason: error.reason,
          status: error.status,
          cause: error,
          headers: writtenHeaders(0, 0),
        })
      : error;
  });

/**
 * Answers a push. Samples that cannot be stored yield a 400, which senders do not retry; the others
 * of the same push are stored.
 */
function answer(
  call: PushCall,
  { accepted, rejected, reasons, exemplars = 0 }: PushAnswer,
  isCounted: boolean,
): void {
  const written = isCounted ? writtenHeaders(accepted, exemplars) : {};
  if (rejected > 0) {
    throw errors.samples_refused(
      {
        samples: rejected === 1 ? '1 sample was' : `${rejected} samples were`,
        reasons: reasons.join('; '),
      },
      { headers: written },
    );
  }
  for (const [name, value] of Object.entries(written)) {
    call.setHeader(name, value);
  }
}
