import type { DirectoryContract, Person } from 'svc/contracts/iam';
import { type Clock, type Ids, type Principal, SvcError } from 'svc/sdk';

import { digest } from '../store/digest.ts';
import { refreshGraceMs, sessionIdleMs, sessionMs } from '../store/lifetimes.ts';
import { familyOf, nextRefreshToken } from '../store/refresh-tokens.ts';
import type { Rows } from '../store/store.ts';
import type { ShownSession, ShownToken } from '../store/tables.ts';
import { userPrincipal } from '../tokens/principals.ts';
import { type Client, fingerprint } from './client.ts';
import { errors } from './errors.ts';

/** Tells the audit trail whose call this is, as soon as that is known. */
export type Known = (actor: Principal, sessionId: string) => void;

export interface RotationParts {
  readonly directory: DirectoryContract;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Result of exchanging a refresh token. */
export interface Rotated {
  readonly person: Person;
  readonly sessionId: string;
  /** When the session began with a login. */
  readonly since: number;
  readonly successor: string;
}

const mostSiblings = 10;

/** Exchanges refresh tokens: each is good once, and a copy that is shown later gives the theft away. */
export class Rotation {
  readonly #parts: RotationParts;

  constructor(parts: RotationParts) {
    this.#parts = parts;
  }

  /** The first token of a session. */
  begin(rows: Rows, sessionId: string): Promise<string> {
    return this.#add(rows, sessionId);
  }

  /** Spends a token for its successor. Shown again within the grace it gets another one, so that both tabs go on. Throws Replayed after it. */
  async exchange(rows: Rows, token: string, client: Client, known: Known): Promise<Rotated> {
    const { directory, clock } = this.#parts;
    const kept = await rows.refreshTokens.find(digest(token));
    const family = familyOf(token);
    const shown = kept ?? (family === undefined ? undefined : await rows.sessions.ofFamily(family));
    const person = shown && directory.live(shown.user_id);
    if (!shown || !person) {
      throw refused();
    }
    const { session_id: sessionId, created_at: since } = shown;
    known(userPrincipal(person, sessionId, since), sessionId);
    if (!isAlive(shown, person, clock.now())) {
      throw refused();
    }
    // One of this session whose row is removed was spent long ago.
    if (!kept || this.#isReplay(kept, client)) {
      throw new Replayed(shown);
    }
    if (kept.issued_at <= clock.now() - sessionIdleMs) {
      throw refused();
    }
    if (kept.spent_at === null) {
      await rows.refreshTokens.spend(kept.id, fingerprint(client), clock.now());
    } else if ((await rows.refreshTokens.countChildren(kept)) >= mostSiblings) {
      throw errors.used_too_often({ retryAfterSeconds: refreshGraceMs / 1000 });
    }
    return {
      person,
      sessionId,
      since,
      successor: await this.#add(rows, sessionId, { id: kept.id, token }),
    };
  }

  async #add(
    rows: Rows,
    sessionId: string,
    parent?: { readonly id: number; readonly token: string },
  ): Promise<string> {
    const next = nextRefreshToken(this.#parts.ids, parent?.token);
    await rows.refreshTokens.add(sessionId, parent?.id ?? null, next, this.#parts.clock.now());
    return next.text;
  }

  #isReplay({ spent_at: spentAt, spent_by: spentBy }: ShownToken, client: Client): boolean {
    return (
      spentAt !== null &&
      (this.#parts.clock.now() - spentAt > refreshGraceMs || spentBy !== fingerprint(client))
    );
  }
}

const isAlive = (
  { ended_at: endedAt, created_at: createdAt, version }: ShownSession,
  person: Person,
  now: number,
): boolean =>
  endedAt === null &&
  createdAt > now - sessionMs &&
  person.status === 'active' &&
  person.version === version;

/** One sentence for every reason, so that none of them can be found out by asking. */
const refused = (): SvcError => errors.refused();

/** A spent token was shown again, outside its grace or by another client. */
export class Replayed extends SvcError {
  readonly shown: ShownSession;

  constructor(shown: ShownSession) {
    super(errors.refused.code, errors.refused.sentence, { reason: errors.refused.reason });
    this.shown = shown;
  }
}
