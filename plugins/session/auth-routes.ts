import type { AccountTimes, Person } from 'svc/contracts/iam';
import { type Call, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import {
  LoginBody,
  RefreshBody,
  RegisterBody,
  SetupBody,
  SignedInReply,
  type SignedInShape,
  UserShown,
} from './schema.ts';
import { clientOf } from './sessions/client.ts';
import { RefreshCookie } from './sessions/refresh-cookie.ts';
import type { Known } from './sessions/rotation.ts';
import type { Sessions, SignedIn } from './sessions/sessions.ts';
import type { Made, SignIn } from './sign-in/sign-in.ts';
import { accessTokenSeconds } from './tokens/access-tokens.ts';

export const authRoutes = (signIn: SignIn, sessions: Sessions): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/auth/login',
    access: 'public',
    summary: 'Sign in with e-mail and password',
    description:
      'If the disk does not accept writes, the session is not stored: it lasts only as long as its access token, and its refresh token does not work.',
    body: LoginBody,
    response: SignedInReply,
    status: 200,
    unwritten: true,
    errors: ['unauthorized', 'rate_limited'],
    handle: async (call) => {
      const { email, password, cookie } = call.body;
      call.note({
        resourceType: 'session',
        ...(email.includes('@') && { after: { email: email.trim().toLowerCase() } }),
      });
      return reply(call, cookie, await signIn.login(email, password, clientOf(call), known(call)));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    access: 'public',
    summary: 'Exchange a refresh token for a new pair of tokens',
    description:
      'A refresh token works once. If it is used again more than 10 s later, or by another client, the session ends for both clients.',
    body: RefreshBody,
    response: SignedInReply,
    status: 200,
    errors: ['unauthorized', 'rate_limited'],
    handle: async (call) => {
      call.note({ resourceType: 'session' });
      return await refreshed(call, call.body.refresh_token, sessions);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/register',
    access: 'public',
    summary: 'Register an account, if the setting auth.registration is open',
    body: RegisterBody,
    response: UserShown,
    errors: ['forbidden', 'conflict', 'rate_limited'],
    handle: async (call) => {
      const { person, times } = await signIn.register(call.body, clientOf(call), made(call));
      return user(person, times);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/setup',
    access: 'public',
    summary: 'Create the first administrator with the one-time setup token, and sign in',
    body: SetupBody,
    response: SignedInReply,
    errors: ['unauthorized', 'conflict', 'rate_limited'],
    handle: async (call) =>
      reply(
        call,
        call.body.cookie,
        await signIn.setUp(call.body.token, call.body, clientOf(call), made(call)),
      ),
  }),
];

/** The ways out. */
export const leaveRoutes = (sessions: Sessions): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/auth/logout',
    access: 'known',
    devices: 'none',
    summary: 'End this session and revoke its tokens',
    errors: ['conflict'],
    handle: async (call) => {
      call.note({
        resourceType: 'session',
        ...(call.principal.session !== undefined && { resourceId: call.principal.session }),
      });
      await sessions.leave(call.principal);
      new RefreshCookie(call).drop();
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/logout-all',
    access: 'known',
    devices: 'none',
    summary: 'End all your sessions, including this one',
    description: 'API tokens stay valid; changing the password revokes them as well.',
    errors: ['conflict'],
    handle: async (call) => {
      call.note({ resourceType: 'user', resourceId: call.principal.id });
      await sessions.leaveAll(call.principal, (count) =>
        call.note({ after: { sessions_ended: count } }),
      );
    },
  }),
];

const refreshed = async (
  call: Call,
  brought: string | undefined,
  sessions: Sessions,
): Promise<SignedInShape> =>
  reply(
    call,
    brought === undefined,
    await sessions.refresh(brought ?? new RefreshCookie(call).read(), clientOf(call), known(call)),
  );

const known =
  (call: Call): Known =>
  (actor, sessionId) =>
    call.note({ actor, resourceType: 'session', resourceId: sessionId });

const made =
  (call: Call): Made =>
  (id) =>
    call.note({ resourceType: 'user', resourceId: id });

/** Builds the reply; a client that uses the cookie never sees the refresh token. */
function reply(
  call: Call,
  inCookie: boolean | undefined,
  { person, times, accessToken, refreshToken }: SignedIn,
): SignedInShape {
  if (inCookie) {
    new RefreshCookie(call).keep(refreshToken);
  }
  return {
    access_token: accessToken,
    ...(!inCookie && { refresh_token: refreshToken }),
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
    role: person.role,
    user: user(person, times),
  };
}

const user = (
  { id, email, display_name, role, status }: Person,
  times: AccountTimes,
): SignedInShape['user'] => ({
  id,
  email,
  display_name,
  role,
  status,
  created_at: timestamp(times.created_at),
  updated_at: timestamp(times.updated_at),
  last_login_at: times.last_login_at === null ? null : timestamp(times.last_login_at),
});
