import { Shipping, Specs } from 'svc/contracts/edge-uplink';
import { definePlugin, messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { Receiver } from './receiver.ts';
import type { TraceSpec } from './spec.ts';

const listenAgainMs = 1_000;

export default definePlugin<{ readonly receiver: Receiver; readonly spec: TraceSpec }>({
  errors,
  activate(ctx) {
    const spec = ctx.services.use(Specs).of(ctx.id) as TraceSpec;
    const shipping = ctx.services.use(Shipping);
    const shipped = ctx.metrics.counter('spans_total', 'Spans that were left for the manager.');
    const receiver = new Receiver(spec, async ({ contentType, contentEncoding, body, spans }) => {
      await shipping.ship({
        signal: 'traces',
        path: '/v1/traces',
        contentType,
        ...(contentEncoding && { contentEncoding }),
        body,
        items: spans,
        from: ctx.id,
      });
      shipped.add(spans);
    });
    ctx.scope.defer('OTLP receiver', () => receiver.close());
    ctx.health.check('receiver', () =>
      receiver.listening
        ? { ok: true }
        : { ok: false, detail: receiver.trouble ?? 'does not listen yet' },
    );
    return { receiver, spec };
  },

  /** The generation before may still have the port for a moment, and another program for as long as it likes. */
  start(ctx, { receiver, spec: { address, port } }) {
    const attempt = async (): Promise<void> => {
      const first = receiver.trouble === undefined;
      try {
        await receiver.listen();
        ctx.log.info({ address, port }, 'OTLP receiver listening');
      } catch (error) {
        if (first) {
          ctx.log.warn(
            { event: 'edge-traces.listen_failed', address, port, cause: messageOf(error) },
            'OTLP receiver failed to listen; retrying until the port is free',
          );
        }
        ctx.scope.timeout('listen again', listenAgainMs, attempt);
      }
    };
    ctx.scope.timeout('listen', 1, attempt);
  },
});
