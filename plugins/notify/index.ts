import { BuildInfo, definePlugin, isSvcError, messageOf } from 'svc/sdk';

import { createAddresses } from './address.ts';
import { channelRoutes } from './channel-routes.ts';
import { createChannels } from './channels.ts';
import { kindsOf, shippedTypes } from './channel-types.ts';
import { ChannelTypes, NoticeDispatcher, NoticeSource, NotificationFinished } from './contract.ts';
import { createDispatcher } from './dispatcher.ts';
import { clearAway } from './retention.ts';
import { createSender } from './sender.ts';
import { standingChannels } from './standing.ts';
import { bringStanding } from './standing-channels.ts';
import type { NotifyTables } from './tables.ts';
import { createTeller } from './teller.ts';
import { createTests } from './channel-tests.ts';

const lookMs = 200;
const tellMs = 500;
const hourMs = 3_600_000;

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, scope, settings } = ctx;
    const tables = ctx.db<NotifyTables>();
    const build = ctx.services.use(BuildInfo);
    const source = ctx.services.maybe(NoticeSource);
    const kinds = kindsOf(ctx.extend.open(ChannelTypes), log);
    Object.entries(shippedTypes).forEach(([id, type]) => ctx.extend.contribute(ChannelTypes, id, type));
    const addresses = createAddresses(ctx.secrets, settings);

    const linkOf = (incident: number | undefined): string => {
      const path = settings.get<string>(incident === undefined ? 'notify.incidents_path' : 'notify.incident_path');
      return build.publicUrl.replace(/\/$/, '') + path.replaceAll('{id}', String(incident));
    };
    const sender = createSender({
      ...{ tables, kinds, addresses, linkOf, clock, log },
      fetch: (url, request) => ctx.fetch(url, request),
      uuid: () => ids.uuid(),
      random: () => Number.parseInt(Buffer.from(ids.token(4), 'base64url').toString('hex'), 16) / 2 ** 32,
      process: String(build.startedAt),
      generation: ids.uuid(),
      signal: scope.signal,
      tries: ctx.metrics.counter('tries_total', 'Tries to tell a channel something.', ['channel_type', 'result']),
    });
    const tests = createTests({ tables, clock, ids, sender, after: (ms, late) => scope.timeout('give up waiting for a test', ms, late) });
    const outcomes = ctx.metrics.counter('outcomes_total', 'What became of notices, one for each channel.', ['result']);
    // So that nobody takes the first one for the beginning of the counter.
    ['sent', 'failed', 'folded'].forEach((result) => outcomes.add(0, { result }));
    const teller = createTeller({
      ...{ tables, source, clock, log },
      announce: (outcome) => ctx.events.emit(NotificationFinished, outcome),
      outcomes,
    });
    const channels = createChannels({ tables, kinds, addresses, settings, source, clock, ids, moved: (id) => sender.forget(id) });

    ctx.services.provide(NoticeDispatcher, () => createDispatcher({ tables, clock, ids }));
    ctx.http.routes(channelRoutes(channels, tests));

    /** What storage cannot take now is done the next time. */
    const chore = (label: string, work: () => Promise<void>) => async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!isSvcError(error)) {
          throw error;
        }
        log.warn({ cause: messageOf(error) }, `${label} must wait`);
      }
    };
    const bring = chore('making channels of settings', () => bringStanding({ tables, settings, clock, ids }));
    standingChannels.forEach(({ setting }) => settings.watch(setting, bring));
    scope.defer('wait for what is being sent', () => sender.settled());
    scope.interval(
      'send',
      lookMs,
      chore('sending', () => sender.look()),
    );
    scope.interval(
      'tell outcomes',
      tellMs,
      chore('telling outcomes', () => teller.tell()),
    );
    scope.interval(
      'clear away what is over',
      hourMs,
      chore('clearing away', () => clearAway(tables, clock)),
    );
    await bring();
  },
});
