import { type PersonChanged, Restoring } from 'svc/contracts/iam';
import { MailSender } from 'svc/contracts/mail';
import { BuildInfo, definePlugin } from 'svc/sdk';

import { resetRoutes } from './reset-routes.ts';
import { type Letter, letters, Resets, type ResetTables } from './resets.ts';

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
      mail: services.maybe(MailSender),
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
