import type { LogIngest } from 'svc/contracts/logs';
import type { Handle, RouteDeclaration } from 'svc/sdk';

import { encodingOf, mediaType } from './encoding.ts';
import { errors } from './errors.ts';
import type { PushGate } from './push-gate.ts';
import { plainWording, pushRoute } from './push-route.ts';
import { demandBody, type Pusher } from './push.ts';

const protobuf = [
  'application/x-protobuf',
  'application/protobuf',
  'application/vnd.google.protobuf',
  'application/octet-stream',
];

/** The push of Loki. Lines that cannot be kept are a refusal in its words, while the others of the same push are kept. */
export const lokiRoutes = (
  gate: PushGate,
  push: Pusher,
  store: Handle<LogIngest>,
): readonly RouteDeclaration[] => [
  pushRoute(gate, {
    path: '/loki/api/v1/push',
    summary: "Push log lines in Loki's format, as JSON or snappy-compressed protobuf",
    consumes: ['application/json', ...protobuf],
    produces: 'text/plain; charset=utf-8',
    wording: plainWording,
    async handle(call) {
      demandBody(call);
      const format =
        mediaType(call.headers['content-type']).type === 'application/json'
          ? 'loki-json'
          : 'loki-proto';
      const encoding = encodingOf(call.headers['content-encoding'], ['gzip', 'snappy']);
      const { rejected, reasons } = await push(call, { signal: 'logs', store, format, encoding });
      if (rejected > 0) {
        throw errors.lines_refused({ reasons: reasons.join('\n') });
      }
    },
  }),
];
