import { BuildInfo, definePlugin, defineService } from 'svc/sdk';

import type { PersonChanged, RestoringContract } from '../iam/contract.ts';
import type { MailSender } from '../mail/contract.ts';
import { resetRoutes } from './reset-routes.ts';
import { type Letter, letters, Resets, type ResetTables } from './resets.ts';

/** By their ids: the room of e-mail may be away. */
const Restoring = defineService<RestoringContract>('iam.restoring');
const Mail = defineService<MailSender>('mail.sender');

const personChanged: typeof PersonChanged = { kind: 'event', id: 'iam.person-changed' };

const hourMs = 3_600_000;
/** Until its link would be too old: a try every few minutes. */
const attempts = 10;

export default definePlugin({
  activate(ctx) {
    const { clock, events, ids, log, outbox, scope, services } = ctx;
    const build = services.use(BuildInfo);
    const passwords = services.use(Restoring);
    const resets = new Resets({
      tables: ctx.db<ResetTables>(),
      passwords,
      mail: services.maybe(Mail),
      outbox,
      clock,
      ids,
      publicUrl: () => build.publicUrl,
    });
    ctx.http.routes(resetRoutes(resets));
    outbox.deliver<Letter>(letters, ({ payload, id }) => resets.send(payload, id), {
      attempts,
      backoffMs: 5_000,
      exhausted: async ({ payload }, cause) =>
        log.error(
          { event: 'password-reset.unsent', kind: payload.kind, cause },
          'e-mail about a password could not be sent; svc mail test tells why',
        ),
    });
    events.on(personChanged, ({ id }) => resets.follow(id));
    scope.interval('forget old links', hourMs, () => resets.forget());
  },
});
