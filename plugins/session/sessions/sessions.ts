import type { AccountTimes, DirectoryContract, Person } from 'svc/contracts/iam';
import {
  type Clock,
  type Ids,
  isSvcError,
  type Logger,
  type Page,
  type PageRequest,
  type Principal,
} from 'svc/sdk';

import { askedUser, assertInPerson, ownId, type Reach, reachOf } from '../store/reach.ts';
import { nextRefreshToken } from '../store/refresh-tokens.ts';
import type { Store } from '../store/store.ts';
import type { SessionRow, ShownSession } from '../store/tables.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { userPrincipal } from '../tokens/principals.ts';
import type { Client } from './client.ts';
import { errors } from './errors.ts';
import { type Known, Replayed, Rotation } from './rotation.ts';

/** The result of signing in. */
export interface SignedIn {
  readonly person: Person;
  readonly times: AccountTimes;
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface SessionParts {
  readonly store: Store;
  readonly directory: DirectoryContract;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Runs work outside the call it began in: it takes effect even if the call is refused. */
  readonly detached: <R>(work: () => Promise<R>) => Promise<R>;
  readonly ended: (sessionId: string, userId: number) => void;
  readonly replayed: (sessionId: string, userId: number, ip: string) => void;
}

/** Max concurrent sessions: more do not stem from one person's tabs. */
const mostSessions = 100;

/** Logins and their refreshes, until they end. */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #rotation: Rotation;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#rotation = new Rotation(parts);
  }

  async open(person: Person, client: Client, known: Known): Promise<SignedIn> {
    const { store, directory, clock, ids } = this.#parts;
    const [id, now] = [ids.uuid(), clock.now()];
    known(userPrincipal(person, id, now), id);
    const stamps = { created_at: now, refreshed_at: now, last_used_at: now };
    const kept = await store
      .write(async (rows) => {
        await rows.sessions.add({
          id,
          user_id: person.id,
          version: person.version,
          ip: client.ip,
          user_agent: client.userAgent,
          ...stamps,
        });
        await directory.noteLogin(person.id);
        return {
          token: await this.#rotation.begin(rows, id),
          displaced: await rows.sessions.endOldest(person.id, mostSessions, now),
        };
      })
      .catch((error: unknown) => this.#withoutStore(error, person, client));
    kept.displaced.forEach((session) => this.#parts.ended(session.id, session.user_id));
    return await this.#signedIn(person, { id, since: now, refreshToken: kept.token });
  }

  async refresh(token: string, client: Client, known: Known): Promise<SignedIn> {
    try {
      const { person, sessionId, since, successor } = await this.#parts.store.write((rows) =>
        this.#rotation.exchange(rows, token, client, known),
      );
      return await this.#signedIn(person, { id: sessionId, since, refreshToken: successor });
    } catch (error) {
      if (error instanceof Replayed) {
        await this.#endReplayed(error.shown, client);
      }
      throw error;
    }
  }

  list(actor: Principal, userId: number | undefined, page: PageRequest): Promise<Page<SessionRow>> {
    return this.#parts.store.read.sessions.list(
      askedUser(actor, userId),
      this.#parts.clock.now(),
      page,
    );
  }

  async end(actor: Principal, id: string): Promise<void> {
    assertInPerson(actor);
    await this.#endOne(reachOf(actor), id);
  }

  /** Ends the caller's session. */
  async leave(actor: Principal): Promise<void> {
    await this.#endOne(ownId(actor), ownSession(actor));
  }

  /**
   * Ends every session of the caller; `ending` is called with their number within the write, before
   * its commit.
   */
  async leaveAll(actor: Principal, ending: (sessions: number) => void): Promise<void> {
    const { store, clock, ended } = this.#parts;
    ownSession(actor);
    const over = await store.write(async (rows) => {
      const all = await rows.sessions.endAll(ownId(actor), clock.now());
      ending(all.length);
      return all;
    });
    over.forEach((session) => ended(session.id, session.user_id));
  }

  /** Ends sessions that began before a change of the account. */
  async endOutdated(userId: number): Promise<void> {
    const { store, directory, clock, ended } = this.#parts;
    const ending = await store.write((rows) =>
      rows.sessions.endOutdated(userId, directory.live(userId)?.version, clock.now()),
    );
    ending.forEach((session) => ended(session.id, session.user_id));
  }

  /**
   * Signs in without the store: whoever has to free disk space must be let in to look, for the
   * lifetime of an access token, which needs no row.
   */
  #withoutStore(
    error: unknown,
    { id, email }: Person,
    { ip }: Client,
  ): { readonly token: string; readonly displaced: readonly SessionRow[] } {
    if (!isSvcError(error) || error.code !== 'unavailable') {
      throw error;
    }
    this.#parts.log.warn(
      { event: 'session.unwritten', user: id, email, ip, cause: error.message },
      'signed in a user, but could not store the session',
    );
    return { token: nextRefreshToken(this.#parts.ids).text, displaced: [] };
  }

  async #signedIn(
    person: Person,
    { id, since, refreshToken }: { id: string; since: number; refreshToken: string },
  ): Promise<SignedIn> {
    const { directory, accessTokens } = this.#parts;
    return {
      person,
      times: await directory.timesOf(person.id),
      accessToken: accessTokens.mint(person, id, since),
      refreshToken,
    };
  }

  async #endReplayed(
    { session_id: sessionId, user_id: userId }: ShownSession,
    { ip }: Client,
  ): Promise<void> {
    const { store, clock, detached, ended, replayed } = this.#parts;
    const ending = await detached(() =>
      store.write((rows) => rows.sessions.end(userId, sessionId, clock.now())),
    );
    if (ending) {
      ended(sessionId, userId);
      replayed(sessionId, userId, ip);
    }
  }

  async #endOne(reach: Reach, id: string): Promise<void> {
    const { store, clock, ended } = this.#parts;
    const { user_id: userId } = await store.write(async (rows) => {
      const ending = await rows.sessions.end(reach, id, clock.now());
      if (!ending) {
        throw errors.no_session({ id });
      }
      return ending;
    });
    ended(id, userId);
  }
}

/** Returns the session that can be logged out: that of a person, their own. */
function ownSession({ kind, session }: Principal): string {
  if (kind !== 'user' || session === undefined) {
    throw errors.not_a_login();
  }
  return session;
}
