import { type Clock, type Ids, type Page, type PageRequest, type Principal, SvcError } from 'svc/sdk';

import type { AccountTimes, DirectoryContract, Person } from '../iam/contract.ts';
import type { AccessTokens } from './access-tokens.ts';
import { assertInPerson } from './api-tokens.ts';
import { type Client, fingerprint } from './client.ts';
import { digest } from './digest.ts';
import { refreshGraceMs, sessionIdleMs, sessionMs } from './lifetimes.ts';
import { userPrincipal } from './principals.ts';
import { askedUser, ownId, type Reach, reachOf } from './reach.ts';
import { familyOf, nextRefreshToken } from './refresh-tokens.ts';
import type { Rows, Store } from './store.ts';
import type { SessionRow, ShownSession, ShownToken } from './tables.ts';

/** What somebody has who signed in. */
export interface SignedIn {
  readonly person: Person;
  readonly times: AccountTimes;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Tells the audit trail whose call this is, as soon as that is known. */
export type Known = (actor: Principal, sessionId: string) => void;

/** Logins and what is refreshed from them, until they end. */
export interface Sessions {
  open(person: Person, client: Client, known: Known): Promise<SignedIn>;
  refresh(token: string, client: Client, known: Known): Promise<SignedIn>;
  list(actor: Principal, userId: number | undefined, page: PageRequest): Promise<Page<SessionRow>>;
  end(actor: Principal, id: string): Promise<void>;
  /** Ends the session that the caller speaks in. */
  leave(actor: Principal): Promise<void>;
  /** Ends every session of the caller; `ending` is told their number in the write, before its commit. */
  leaveAll(actor: Principal, ending: (sessions: number) => void): Promise<void>;
  /** An account has changed: sessions that began before that are over. */
  endOutdated(userId: number): Promise<void>;
}

export interface SessionParts {
  readonly store: Store;
  readonly directory: DirectoryContract;
  readonly accessTokens: AccessTokens;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Runs work that is no part of the call it began in: it stands even though the call is refused. */
  readonly detached: <R>(work: () => Promise<R>) => Promise<R>;
  readonly ended: (sessionId: string, userId: number) => void;
  readonly replayed: (sessionId: string, userId: number, ip: string) => void;
}

/** More at once do not come from somebody's tabs. */
const mostSessions = 100;
const mostSiblings = 10;

/** A session and when it began with a login. */
interface Begun {
  readonly id: string;
  readonly since: number;
}

export function createSessions(parts: SessionParts): Sessions {
  const { store, directory, accessTokens, clock, ids, detached, ended, replayed } = parts;

  async function signedIn(person: Person, { id, since }: Begun, refreshToken: string): Promise<SignedIn> {
    return { person, times: await directory.timesOf(person.id), accessToken: accessTokens.mint(person, id, since), refreshToken };
  }

  async function addRefreshToken(rows: Rows, sessionId: string, parent?: { readonly id: number; readonly token: string }): Promise<string> {
    const next = nextRefreshToken(ids, parent?.token);
    await rows.addRefreshToken(sessionId, parent?.id ?? null, next, clock.now());
    return next.text;
  }

  /** Spends a token for its successor. Shown again within the grace it gets another one, so that both tabs go on. */
  async function rotate(rows: Rows, token: string, client: Client, known: Known): Promise<{ person: Person; session: Begun; successor: string }> {
    const kept = await rows.refreshToken(digest(token));
    const family = familyOf(token);
    const shown = kept ?? (family === undefined ? undefined : await rows.familySession(family));
    const person = shown && directory.live(shown.user_id);
    if (!shown || !person) {
      throw refused();
    }
    const { session_id: sessionId, created_at: since } = shown;
    known(userPrincipal(person, sessionId, since), sessionId);
    if (!isAlive(shown, person, clock.now())) {
      throw refused();
    }
    // One of this session whose row is forgotten was spent long ago.
    if (!kept || isReplay(kept, client)) {
      throw new Replayed(shown);
    }
    if (kept.issued_at <= clock.now() - sessionIdleMs) {
      throw refused();
    }
    if (kept.spent_at === null) {
      await rows.spend(kept.id, fingerprint(client), clock.now());
    } else if ((await rows.childrenOf(kept)) >= mostSiblings) {
      throw new SvcError('rate_limited', 'this refresh token was used too often in a row; use the newest one', { retryAfterSeconds: refreshGraceMs / 1000 });
    }
    return { person, session: { id: sessionId, since }, successor: await addRefreshToken(rows, sessionId, { id: kept.id, token }) };
  }

  const isReplay = ({ spent_at: spentAt, spent_by: spentBy }: ShownToken, client: Client): boolean =>
    spentAt !== null && (clock.now() - spentAt > refreshGraceMs || spentBy !== fingerprint(client));

  async function endReplayed({ session_id: sessionId, user_id: userId }: ShownSession, { ip }: Client): Promise<void> {
    const ending = await detached(() => store.write((rows) => rows.endSession(userId, sessionId, clock.now())));
    if (ending) {
      ended(sessionId, userId);
      replayed(sessionId, userId, ip);
    }
  }

  async function endOne(reach: Reach, id: string): Promise<void> {
    const { user_id: userId } = await store.write(async (rows) => {
      const ending = await rows.endSession(reach, id, clock.now());
      if (!ending) {
        throw new SvcError('not_found', `there is no session ${id}`);
      }
      return ending;
    });
    ended(id, userId);
  }

  /** Who can log out: a person in a session of their own. */
  function ownSession({ kind, session }: Principal): string {
    if (kind !== 'user' || session === undefined) {
      throw new SvcError('conflict', 'only a session that began with a login can be logged out; delete an API token instead');
    }
    return session;
  }

  return {
    async open(person, client, known) {
      const [id, now] = [ids.uuid(), clock.now()];
      known(userPrincipal(person, id, now), id);
      const stamps = { created_at: now, refreshed_at: now, last_used_at: now };
      const { token, displaced } = await store.write(async (rows) => {
        await rows.addSession({ id, user_id: person.id, version: person.version, ip: client.ip, user_agent: client.userAgent, ...stamps });
        await directory.noteLogin(person.id);
        return { token: await addRefreshToken(rows, id), displaced: await rows.endOldest(person.id, mostSessions, now) };
      });
      displaced.forEach((session) => ended(session.id, session.user_id));
      return await signedIn(person, { id, since: now }, token);
    },

    async refresh(token, client, known) {
      try {
        const { person, session, successor } = await store.write((rows) => rotate(rows, token, client, known));
        return await signedIn(person, session, successor);
      } catch (error) {
        if (error instanceof Replayed) {
          await endReplayed(error.shown, client);
        }
        throw error;
      }
    },

    list: (actor, userId, page) => store.read.sessionsOf(askedUser(actor, userId), clock.now(), page),

    async end(actor, id) {
      assertInPerson(actor);
      await endOne(reachOf(actor), id);
    },

    async leave(actor) {
      await endOne(ownId(actor), ownSession(actor));
    },

    async leaveAll(actor, ending) {
      ownSession(actor);
      const over = await store.write(async (rows) => {
        const all = await rows.endAll(ownId(actor), clock.now());
        ending(all.length);
        return all;
      });
      over.forEach((session) => ended(session.id, session.user_id));
    },

    async endOutdated(userId) {
      const ending = await store.write((rows) => rows.endOutdated(userId, directory.live(userId)?.version, clock.now()));
      ending.forEach((session) => ended(session.id, session.user_id));
    },
  };
}

const isAlive = ({ ended_at: endedAt, created_at: createdAt, version }: ShownSession, person: Person, now: number): boolean =>
  endedAt === null && createdAt > now - sessionMs && person.status === 'active' && person.version === version;

/** One sentence for every reason, so that none of them can be found out by asking. */
const refused = (): SvcError => new SvcError('unauthorized', refusal);
const refusal = 'the refresh token is not valid or has expired; sign in again';

class Replayed extends SvcError {
  readonly shown: ShownSession;

  constructor(shown: ShownSession) {
    super('unauthorized', refusal);
    this.shown = shown;
  }
}
