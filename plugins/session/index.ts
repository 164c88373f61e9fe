import { AsyncResource } from 'node:async_hooks';
import { join } from 'node:path';

import { Authenticator, Banner, definePlugin } from 'svc/sdk';

import { Directory, Passwords } from '../iam/contract.ts';
import { createAccessTokens } from './access-tokens.ts';
import { createApiTokens } from './api-tokens.ts';
import { authRoutes } from './auth-routes.ts';
import { SessionAuthenticator } from './authenticator.ts';
import { Credentials, SessionEnded, SessionReplayed } from './contract.ts';
import { keepHouse } from './housekeeping.ts';
import { createRevocations } from './revocations.ts';
import { sessionRoutes } from './session-routes.ts';
import { createSessions } from './sessions.ts';
import { setupLine } from './setup-line.ts';
import { createSetupToken } from './setup-token.ts';
import { createSignIn } from './sign-in.ts';
import { openSigningKeys } from './signing-keys.ts';
import { createStore } from './store.ts';
import type { SessionTables } from './tables.ts';
import { createThrottle } from './throttle.ts';
import { tokenRoutes } from './token-routes.ts';
import { createUses } from './uses.ts';
import { Vouched } from './vouched.ts';

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, secrets, log, settings } = ctx;
    const directory = ctx.services.use(Directory);
    const passwords = ctx.services.use(Passwords);
    const store = createStore(ctx.db<SessionTables>());
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
      log.warn({ session: sessionId, user: userId, ip }, 'a spent refresh token was shown again; the session is over');
      ctx.events.emit(SessionReplayed, { session_id: sessionId, user_id: userId, ip });
    };

    const signingKeys = await openSigningKeys({ store, secrets, clock, ids, log });
    const accessTokens = createAccessTokens(signingKeys, clock, ids);
    const revocations = createRevocations(store, clock);
    const uses = createUses(store, clock);
    const apiTokens = createApiTokens({ store, directory, clock, ids, uses, ended });
    const vouched = new Vouched(ctx.extend.open(Credentials));
    const sessions = createSessions({ store, directory, accessTokens, clock, ids, detached, ended, replayed });
    const setupToken = createSetupToken({ store, directory, clock, ids, file: join(ctx.dataDir, 'setup-token') });
    const signIn = createSignIn({ directory, passwords, sessions, throttle: createThrottle(clock), setupToken, settings });
    await revocations.refresh();
    await setupToken.settle();

    ctx.services.provide(Authenticator, () => new SessionAuthenticator({ accessTokens, apiTokens, vouched, directory, revocations, uses, clock }));
    ctx.http.routes([...authRoutes(signIn, sessions), ...sessionRoutes(sessions), ...tokenRoutes(apiTokens)]);
    ctx.extend.contribute(Banner, 'setup', { line: (url) => setupToken.waiting && setupLine(url, setupToken.waiting) });

    // The generation before this one may end sessions while it drains.
    ctx.events.on(SessionEnded, ({ session_id: sessionId }) => forget(sessionId));
    keepHouse(ctx, { store, sessions, revocations, signingKeys, setupToken, uses });
  },
});
