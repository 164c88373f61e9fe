import { definePlugin, messageOf } from 'svc/sdk';

import { Shipping, Specs } from '../edge-uplink/contract.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import type { TraceSpec } from './spec.ts';

const listenAgainMs = 1_000;

export default definePlugin<{ readonly receiver: Receiver; readonly state: State; readonly spec: TraceSpec }>({
  activate(ctx) {
    const spec = ctx.services.use(Specs).of(ctx.id) as TraceSpec;
    const shipping = ctx.services.use(Shipping);
    const shipped = ctx.metrics.counter('spans_total', 'Spans that were left for the manager.');
    const receiver = createReceiver(spec, async ({ contentType, contentEncoding, body, spans }) => {
      await shipping.ship({ signal: 'traces', path: '/v1/traces', contentType, ...(contentEncoding && { contentEncoding }), body, items: spans, from: ctx.id });
      shipped.add(spans);
    });
    const state: State = { trouble: undefined };
    ctx.scope.defer('OTLP receiver', () => receiver.close());
    ctx.health.check('receiver', () => (receiver.listening ? { ok: true } : { ok: false, detail: state.trouble ?? 'it does not listen yet' }));
    return { receiver, state, spec };
  },

  /** The generation before may still have the port for a moment, and another program for as long as it likes. */
  start(ctx, { receiver, state, spec }) {
    const attempt = async (): Promise<void> => {
      try {
        await receiver.listen();
        state.trouble = undefined;
        ctx.log.info({ address: spec.address, port: spec.port }, 'spans are taken by OTLP');
      } catch (error) {
        if (state.trouble === undefined) {
          ctx.log.warn({ cause: messageOf(error) }, `port ${spec.port} cannot be listened on; it is tried again`);
        }
        state.trouble = `port ${spec.port} cannot be listened on: ${messageOf(error)}`;
        ctx.scope.timeout('listen again', listenAgainMs, attempt);
      }
    };
    ctx.scope.timeout('listen', 1, attempt);
  },
});

interface State {
  trouble: string | undefined;
}
