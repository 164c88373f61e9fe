import type { Handle, RouteDeclaration } from 'svc/sdk';

import type { Signal } from './contract.ts';
import { encodingOf } from './encoding.ts';
import { exportAnswer, jsonType, protobufType, speaksJson, statusWording } from './otlp-answer.ts';
import type { PushGate } from './push-gate.ts';
import { pushRoute } from './push-route.ts';
import { demandBody, type Pusher, type PushStore } from './push.ts';
import type { Stores } from './stores.ts';

/** What the reply calls the count of what was refused. */
const counted: Readonly<Record<Signal, string>> = { metrics: 'rejectedDataPoints', logs: 'rejectedLogRecords', traces: 'rejectedSpans' };

const nothing = { accepted: 0, rejected: 0, reasons: [] };

/** OTLP over HTTP, in protobuf and in JSON; what is refused of an export is told in a successful reply. */
export const otlpRoutes = (gate: PushGate, push: Pusher, stores: Stores): readonly RouteDeclaration[] =>
  (['metrics', 'logs', 'traces'] as const).map((signal) =>
    pushRoute(gate, {
      path: `/v1/${signal}`,
      summary: `Export ${signal} by OTLP over HTTP`,
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
        const answer = call.body.length === 0 ? nothing : await push(call, { signal, store, format: json ? 'otlp-json' : 'otlp-proto', encoding });
        return exportAnswer(answer, counted[signal], json);
      },
    }),
  );
