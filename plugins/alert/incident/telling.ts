import { type Handle, type PluginContext, SvcError } from 'svc/sdk';

import type { Notice, NoticeDispatcher, Outcome } from '../../notify/contract.ts';
import type { IncidentStore } from './incident-store.ts';
import { noticeTopic } from './ledger.ts';

/** A notice waits for a dispatcher as long as it takes to bring one back: some weeks, at a try every few minutes. */
const attempts = 10_000;

/** Hands each notice to whoever dispatches them; it was stored with the transition that it tells of. */
export function tellDispatcher(ctx: Pick<PluginContext, 'outbox' | 'clock'>, dispatcher: Handle<NoticeDispatcher>, store: IncidentStore): void {
  ctx.outbox.deliver<Notice>(
    noticeTopic,
    async ({ payload }) => {
      if (!dispatcher.available) {
        throw new SvcError('unavailable', 'nobody dispatches notifications: the plugin notify is not up');
      }
      await dispatcher.get().accept(payload);
    },
    {
      attempts,
      backoffMs: 1_000,
      exhausted: ({ payload }, cause) => store.record(givenUp(payload, cause), ctx.clock.now()),
    },
  );
}

const givenUp = ({ id, kind, incident }: Notice, cause: string): Outcome => ({
  delivery_id: `${id}/undispatched`,
  notice_id: id,
  incident_id: incident.id,
  kind,
  channel_id: 0,
  channel_name: 'every channel',
  result: 'failed',
  attempts,
  error: cause,
  at: incident.fired_at,
});
