import { EdgeMethods, Shipping, Specs } from 'svc/contracts/edge-uplink';
import { type After, Delivery, listParams, MachineFiles } from 'svc/probe';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import type { ProcessSpec } from './spec.ts';
import { Watch } from './watch.ts';

const minuteMs = 60_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const spec = ctx.services.use(Specs).of(ctx.id) as ProcessSpec;
    const after: After = (ms, work) => ctx.scope.timeout('pause between processes', ms, work);
    const watch = new Watch(spec, { files: new MachineFiles(), clock: ctx.clock, after });
    const delivery = new Delivery(ctx.services.use(Shipping), ctx.id, ctx.log);
    ctx.extend.contribute(EdgeMethods, 'processes', {
      name: 'processes',
      mutating: false,
      run: async (params, { signal }) => watch.list(listParams(params), signal),
    });
    ctx.extend.contribute(EdgeMethods, 'process_history', {
      name: 'process_history',
      mutating: false,
      async run(params) {
        const { from, to } = historyParams(params);
        return { processes: watch.history(from, to) };
      },
    });
    return { spec, measure: async () => delivery.send(await watch.measure()) };
  },
  start(ctx, { spec, measure }) {
    ctx.scope.timeout('first measurement', 0, measure);
    ctx.scope.interval('measure', Number.parseInt(spec.interval, 10) * minuteMs, measure);
  },
});

function historyParams(params: unknown): { readonly from: number; readonly to: number } {
  const { from, to } = (typeof params === 'object' && params !== null ? params : {}) as Record<
    string,
    unknown
  >;
  if (typeof from !== 'number' || typeof to !== 'number' || !(from <= to)) {
    throw errors.history_window();
  }
  return { from, to };
}
