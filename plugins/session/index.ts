import { AsyncResource } from 'node:async_hooks';
import { join } from 'node:path';

import { Directory, Passwords } from 'svc/contracts/iam';
import { PackTraces } from 'svc/contracts/marketplace';
import { Credentials, SessionEnded, SessionReplayed, Setup } from 'svc/contracts/session';
import { Authenticator, Banner, Catalogue, definePlugin, type PluginContext } from 'svc/sdk';

import { authRoutes, leaveRoutes } from './auth-routes.ts';
import { SessionAuthenticator } from './authenticator.ts';
import { believedClock } from './believed-clock.ts';
import { errors } from './errors.ts';
import { startHousekeeping } from './housekeeping.ts';
import { sessionRoutes } from './session-routes.ts';
import { Sessions } from './sessions/sessions.ts';
import { SetupToken } from './sign-in/setup-token.ts';
import { SignIn } from './sign-in/sign-in.ts';
import { Throttle } from './sign-in/throttle.ts';
import { readingsOf } from './store/grants.ts';
import { Store } from './store/store.ts';
import type { SessionTables } from './store/tables.ts';
import { tokenRoutes } from './token-routes.ts';
import { AccessTokens } from './tokens/access-tokens.ts';
import { ApiTokens } from './tokens/api-tokens.ts';
import { Revocations } from './tokens/revocations.ts';
import { SigningKeys } from './tokens/signing-keys.ts';
import { Uses } from './tokens/uses.ts';
import { Vouched } from './tokens/vouched.ts';

export default definePlugin({
  errors,
  async activate(ctx) {
    const { ids, secrets, log, settings } = ctx;
    const clock = believedClock(ctx);
    const directory = ctx.services.use(Directory);
    const passwords = ctx.services.use(Passwords);
    const catalogue = ctx.services.use(Catalogue);
    const store = new Store(ctx.db<SessionTables>());
    const own = new AsyncResource('svc.session');
    const detached = <R>(work: () => Promise<R>): Promise<R> => own.runInAsyncScope(work);

    const forget = (sessionId: string): void => {
      revocations.add(sessionId);
      apiTokens.forget(sessionId);
    };
    const ended = (sessionId: string, userId: number): void => {
      forget(sessionId);
      ctx.events.emit(SessionEnded, { session_id: sessionId, user_id: userId });
    };
    const replayed = (sessionId: string, userId: number, ip: string): void => {
      log.warn(
        { event: 'session.refresh_replayed', session: sessionId, user: userId, ip },
        'refresh token was reused; ended its session',
      );
      ctx.events.emit(SessionReplayed, { session_id: sessionId, user_id: userId, ip });
    };

    const signingKeys = await SigningKeys.open({ store, secrets, clock, ids, log });
    const accessTokens = new AccessTokens(signingKeys, clock, ids);
    const revocations = new Revocations(store, clock);
    const uses = new Uses(store, clock);
    const declared = (): readonly string[] => [
      ...catalogue.actions().map(({ action }) => action),
      ...readingsOf(catalogue.routes(), catalogue.skills()),
    ];
    const apiTokens = new ApiTokens({ store, directory, clock, ids, uses, ended, declared });
    const vouched = new Vouched(ctx.extend.open(Credentials));
    const sessions = new Sessions({
      store,
      directory,
      accessTokens,
      clock,
      ids,
      log,
      detached,
      ended,
      replayed,
    });
    const setupToken = new SetupToken({
      store,
      directory,
      clock,
      ids,
      file: join(ctx.dataDir, 'setup-token'),
    });
    const throttle = new Throttle(clock);
    const signIn = new SignIn({ directory, passwords, sessions, throttle, setupToken, settings });
    await revocations.refresh();
    await setupToken.settle();

    const authenticator = new SessionAuthenticator({
      accessTokens,
      apiTokens,
      vouched,
      directory,
      revocations,
      uses,
      clock,
    });
    offer(ctx, { authenticator, sessions, apiTokens, signIn, setupToken });

    // The generation before this one may end sessions while it drains.
    ctx.events.on(SessionEnded, ({ session_id: sessionId }) => forget(sessionId));
    startHousekeeping(
      { ...ctx, clock },
      { store, sessions, revocations, signingKeys, setupToken, uses },
    );
  },
});

interface Offered {
  readonly authenticator: SessionAuthenticator;
  readonly sessions: Sessions;
  readonly apiTokens: ApiTokens;
  readonly signIn: SignIn;
  readonly setupToken: SetupToken;
}

/** Offers services, routes, and contributions to other plugins. */
function offer(
  { services, extend, http, settings }: PluginContext,
  { authenticator, sessions, apiTokens, signIn, setupToken }: Offered,
): void {
  services.provide(Authenticator, () => authenticator);
  services.provide(Setup, () => ({
    get waiting() {
      return setupToken.waiting;
    },
    get registration() {
      return settings.get<string>('auth.registration') === 'open';
    },
  }));
  extend.contribute(PackTraces, 'session', {
    forget: async ({ packId, keepData }) => void (keepData || (await apiTokens.forgetArea(packId))),
  });
  extend.contribute(Banner, 'setup', { line: (url) => setupToken.bannerLine(url) });
  http.routes([
    ...authRoutes(signIn, sessions),
    ...leaveRoutes(sessions),
    ...sessionRoutes(sessions),
    ...tokenRoutes(apiTokens),
  ]);
}
