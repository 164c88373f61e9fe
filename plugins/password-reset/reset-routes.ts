import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { Resets } from './resets.ts';

const path = '/api/v1/password-resets';

export const resetRoutes = (resets: Resets): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path,
    access: 'public',
    summary: 'Request a password reset link by e-mail',
    description:
      'The response is the same whether or not the account exists. At most three requests per address per hour.',
    body: Type.Object({ email: Type.String({ minLength: 3, maxLength: 320 }) }),
    response: Type.Object({ message: Type.String() }),
    status: 202,
    action: 'password:ask',
    errors: ['conflict', 'rate_limited'],
    async handle({ body: { email }, ip, note }) {
      note({ resourceType: 'password', after: { email: email.trim().toLowerCase() } });
      await resets.ask(email, ip);
      return {
        message: 'if there is an account with this e-mail address, a link is on its way to it',
      };
    },
  }),
  route({
    method: 'POST',
    path: `${path}/redeem`,
    access: 'public',
    summary: 'Set a new password with a reset token, end all sessions and revoke all API tokens',
    body: Type.Object({
      token: Type.String({ minLength: 1, maxLength: 200 }),
      password: Type.String({
        minLength: 1,
        maxLength: 1024,
        format: 'password',
        description: 'At least 10 characters, and not the e-mail address',
      }),
    }),
    status: 204,
    action: 'password:reset',
    errors: ['unauthorized', 'conflict', 'rate_limited'],
    handle: ({ body: { token, password }, ip, note }) => resets.redeem(token, password, ip, note),
  }),
];
