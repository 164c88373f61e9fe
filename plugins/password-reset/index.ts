import { type PersonChanged, Restoring } from 'svc/contracts/iam';
import { MailSender } from 'svc/contracts/mail';
import { Jobs } from 'svc/jobs';
import { BuildInfo, definePlugin, EarlierOutbox } from 'svc/sdk';

import { errors } from './errors.ts';
import { resetRoutes } from './reset-routes.ts';
import { type Letter, letters, Resets, type ResetTables } from './resets.ts';

const personChanged: typeof PersonChanged = { kind: 'event', id: 'iam.person-changed' };

const hourMs = 3_600_000;
/** Max tries of sending, every few minutes, until its link would have expired. */
const tries = 10;

const earlierTopic = 'password-reset/letter';

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, events, ids, log, scope, services } = ctx;
    const build = services.use(BuildInfo);
    const passwords = services.use(Restoring);
    const tables = ctx.db<ResetTables>();
    const jobs = new Jobs(ctx, { tables, process: String(build.startedAt) });
    const resets = new Resets({
      tables,
      passwords,
      mail: services.maybe(MailSender),
      jobs,
      clock,
      ids,
      publicUrl: () => build.publicUrl,
    });
    ctx.http.routes(resetRoutes(resets));
    jobs.queue<Letter>(letters, {
      tries,
      backoffMs: 5_000,
      title: ({ kind }) =>
        kind === 'link' ? 'E-mail: link to set a password' : 'E-mail: password changed',
      work: ({ payload, id }) => resets.send(payload, id),
      onFailed: async (_tx, { payload, cause }) =>
        log.error(
          { event: 'password-reset.unsent', kind: payload.kind, cause },
          'failed to send a password e-mail; test the mail server with "svc mail test"',
        ),
    });
    events.on(personChanged, ({ id }) => resets.follow(id));
    scope.interval('delete old links', hourMs, () => resets.forget());
    return { tables, jobs };
  },
  /** Takes over what the outbox of an earlier version has left. */
  async start({ services }, { tables, jobs }) {
    const earlier = services.use(EarlierOutbox);
    if (await earlier.holds(earlierTopic)) {
      await tables.write(async (tx) =>
        jobs.add(tx, letters, await earlier.take<Letter>(earlierTopic)),
      );
    }
  },
});
