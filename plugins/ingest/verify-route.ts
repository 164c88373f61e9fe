import {
  type AuthenticatorContract,
  byteRoute,
  covers,
  type Credential,
  type Handle,
  type MaybePromise,
  type Principal,
  type RouteDeclaration,
} from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * Returns a route for a proxy in front of external stores: whether this request may push, and as
 * whom. Answered from memory.
 */
export const verifyRoute = (authenticator: Handle<AuthenticatorContract>): RouteDeclaration =>
  byteRoute({
    method: 'GET',
    path: '/internal/auth/dataplane-verify',
    access: 'public',
    summary: 'Check, on behalf of a proxy, whether the sender may push data, and as which edge',
    produces: 'text/plain; charset=utf-8',
    errors: ['unauthorized', 'forbidden'],
    async handle(call) {
      const credential = credentialOf(call.headers['authorization'], call.ip);
      const principal = credential && (await known(authenticator, credential));
      if (principal === undefined) {
        call.setHeader('www-authenticate', 'Basic realm="svc"');
        throw errors.no_credential();
      }
      if (
        principal.kind !== 'edge' &&
        !principal.grants.some((grant) => covers(grant, 'ingest:push'))
      ) {
        throw errors.no_push_right();
      }
      if (principal.selectors !== undefined) {
        throw errors.not_narrowable();
      }
      if (principal.kind === 'edge') {
        call.setHeader('x-edge-id', principal.id);
        call.setHeader('x-device-id', principal.device ?? '');
      }
      return '';
    },
  });

const known = (
  authenticator: Handle<AuthenticatorContract>,
  credential: Credential,
): MaybePromise<Principal | undefined> =>
  authenticator.available ? authenticator.get().authenticate(credential) : undefined;

const longest = 8_192;

function credentialOf(header: string | undefined, ip: string): Credential | undefined {
  const [, scheme, value] = /^(basic|bearer) +(\S+)$/i.exec((header ?? '').slice(0, longest)) ?? [];
  if (scheme === undefined || value === undefined) {
    return undefined;
  }
  return scheme.toLowerCase() === 'basic'
    ? { scheme: 'basic', value: Buffer.from(value, 'base64').toString('utf8'), ip }
    : { scheme: 'bearer', value, ip };
}
