import {
  type AuthenticatorContract,
  byteRoute,
  covers,
  type Credential,
  type Handle,
  type MaybePromise,
  type Principal,
  type RouteDeclaration,
  SvcError,
} from 'svc/sdk';

/** For a proxy in front of stores of somebody's own: whether this request may push, and whose it is. Answered from memory. */
export const verifyRoute = (authenticator: Handle<AuthenticatorContract>): RouteDeclaration =>
  byteRoute({
    method: 'GET',
    path: '/internal/auth/dataplane-verify',
    access: 'public',
    summary: 'Tell a proxy whether the sender of a request may push, and which edge it is',
    produces: 'text/plain; charset=utf-8',
    errors: ['unauthorized', 'forbidden'],
    async handle(call) {
      const credential = credentialOf(call.headers['authorization'], call.ip);
      const principal = credential && (await known(authenticator, credential));
      if (principal === undefined) {
        call.setHeader('www-authenticate', 'Basic realm="svc"');
        throw new SvcError(
          'unauthorized',
          'show the keys of an edge, or an API token that may push',
        );
      }
      if (
        principal.kind !== 'edge' &&
        !principal.grants.some((grant) => covers(grant, 'ingest:push'))
      ) {
        throw new SvcError('forbidden', 'this credential does not hold ingest:push');
      }
      if (principal.selectors !== undefined) {
        throw new SvcError(
          'forbidden',
          'this account sees the devices of its organization alone, and pushing cannot be narrowed to them; ask an administrator',
        );
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
