import { anonymous } from '../../auth/index.ts';
import { type Generation, type Snapshot, withPin } from '../../registry/index.ts';
import {
  type AuthenticatorContract,
  Authenticator,
  type Credential,
  isSvcError,
  type MaybePromise,
  type Principal,
  withDeadline,
} from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Front } from '../exchange/front.ts';
import { authErrors } from './errors.ts';

const answerMs = 10_000;
const longestCredential = 8_192;
const ticketProtocol = 'svc.ticket.';

/**
 * Reads the credential of a request: a bearer token, `id:secret` of Basic, or the ticket that a
 * browser's WebSocket offers as a subprotocol.
 */
export function readCredential({ req, ip, upgrade, target }: Exchange): Credential | undefined {
  const { authorization } = req.headers;
  const path = target?.path ?? '';
  if (authorization !== undefined && authorization.length <= longestCredential) {
    if (/^bearer /i.test(authorization)) {
      return { scheme: 'bearer', value: authorization.slice(7).trim(), ip, path };
    }
    if (/^basic /i.test(authorization)) {
      return {
        scheme: 'basic',
        value: Buffer.from(authorization.slice(6).trim(), 'base64').toString('utf8'),
        ip,
        path,
      };
    }
  }
  const ticket = upgrade?.protocols.find((protocol) => protocol.startsWith(ticketProtocol));
  return ticket === undefined
    ? undefined
    : { scheme: 'ticket', value: ticket.slice(ticketProtocol.length), ip, path };
}

/** Identifies the bearer of a credential by the given snapshot; an unknown caller is anonymous. */
export function identify(
  front: Front,
  snapshot: Snapshot,
  credential: Credential,
): MaybePromise<Principal> {
  const known = front.operator.authenticate(credential);
  if (known !== undefined && !(known instanceof Promise)) {
    return known;
  }
  const entry = snapshot.services.get(Authenticator.id);
  if (!entry) {
    return anonymous;
  }
  const { owner } = entry;
  const provider = entry.value.instance as AuthenticatorContract;
  try {
    const answer = withPin({ snapshot, owner }, () => provider.authenticate(credential));
    return answer instanceof Promise
      ? withDeadline(answer, answerMs, late, { idle: true }).then(orAnonymous, (error: unknown) =>
          refuse(front, owner, error),
        )
      : orAnonymous(answer);
  } catch (error) {
    return refuse(front, owner, error);
  }
}

/**
 * Refuses callers while a provider fails, which is no unknown caller: none is admitted, and none is
 * told that its credential is bad.
 */
function refuse(front: Front, owner: Generation, error: unknown): never {
  if (isSvcError(error)) {
    throw error;
  }
  front.strike(owner, `service ${Authenticator.id}`, error);
  throw authErrors.provider_failed({
    cause: error,
    retryAfterSeconds: 5,
  });
}

const late = (): Promise<never> =>
  Promise.reject(
    authErrors.provider_slow({
      retryAfterSeconds: 5,
    }),
  );

const orAnonymous = (principal: Principal | undefined): Principal => principal ?? anonymous;
