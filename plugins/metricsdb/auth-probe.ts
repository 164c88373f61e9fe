import { type AuthenticatorContract, byteRoute, type Handle, type RouteDeclaration, SvcError } from 'svc/sdk';

const longestCredential = 8_192;

/** Asked by a proxy before it lets a browser through to a dashboard: no body, only whether somebody is signed in. */
export const authProbe = (authenticator: Handle<AuthenticatorContract>): RouteDeclaration =>
  byteRoute({
    method: 'GET',
    path: '/api/v1/metricsdb/auth',
    access: 'public',
    summary: 'Whether the caller is signed in: 204 or 401, for the subrequest of a proxy',
    produces: 'text/plain; charset=utf-8',
    errors: ['unauthorized'],
    async handle({ headers, ip }) {
      const [, value] = /^bearer (.+)$/i.exec(headers['authorization'] ?? '') ?? [];
      const credential = value !== undefined && value.length <= longestCredential ? ({ scheme: 'bearer', value: value.trim(), ip } as const) : undefined;
      // Where nobody can be authenticated, nobody is signed in, as everywhere in the house.
      const principal = credential && authenticator.available ? await authenticator.get().authenticate(credential) : undefined;
      if (principal === undefined || principal.kind === 'anonymous' || principal.kind === 'edge') {
        throw new SvcError('unauthorized', 'no valid session or API token came with this request');
      }
    },
  });
