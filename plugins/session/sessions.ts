import { type Clock, type Ids, type Page, type PageRequest, type Principal, SvcError } from 'svc/sdk';

import type { DirectoryContract, Person } from '../iam/contract.ts';
import type { AccessTokens } from './access-tokens.ts';
import { assertInPerson } from './api-tokens.ts';
import { type Client, fingerprint } from './client.ts';
import { digest } from './digest.ts';
import { refreshGraceMs, sessionIdleMs, sessionMs } from './lifetimes.ts';
import { userPrincipal } from './principals.ts';
import { askedUser, type Reach, reachOf } from './reach.ts';
import type { Rows, Store } from './store.ts';
import type { SessionRow, ShownToken } from './tables.ts';

/** What somebody has who signed in. */
export interface SignedIn {
  readonly person: Person;
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

const refreshTokenPrefix = 'svc_rt_';
/** More at once do not come from somebody's tabs. */
const mostSessions = 100;
const mostSiblings = 10;

export function createSessions(parts: SessionParts): Sessions {
  const { store, directory, accessTokens, clock, ids, detached, ended, replayed } = parts;

  const signedIn = (person: Person, sessionId: string, refreshToken: string): SignedIn => ({
    person,
    accessToken: accessTokens.mint(person, sessionId),
    refreshToken,
  });

  async function addRefreshToken(rows: Rows, sessionId: string, parentId: number | null): Promise<string> {
    const token = refreshTokenPrefix + ids.token(32);
    await rows.addRefreshToken(sessionId, parentId, digest(token), clock.now());
    return token;
  }

  /** Spends a token for its successor. Shown again within the grace it gets another one, so that both tabs go on. */
  async function rotate(rows: Rows, token: string, client: Client, known: Known): Promise<{ person: Person; sessionId: string; successor: string }> {
    const shown = await rows.refreshToken(digest(token));
    const person = shown && directory.live(shown.user_id);
    if (!shown || !person) {
      throw refused();
    }
    const { session_id: sessionId } = shown;
    known(userPrincipal(person, sessionId), sessionId);
    if (!isAlive(shown, person, clock.now())) {
      throw refused();
    }
    if (shown.spent_at === null) {
      await rows.spend(shown.id, fingerprint(client), clock.now());
    } else if (clock.now() - shown.spent_at > refreshGraceMs || shown.spent_by !== fingerprint(client)) {
      throw new Replayed(shown);
    } else if ((await rows.childrenOf(shown)) >= mostSiblings) {
      throw new SvcError('rate_limited', 'this refresh token was used too often in a row; use the newest one', { retryAfterSeconds: refreshGraceMs / 1000 });
    }
    return { person, sessionId, successor: await addRefreshToken(rows, sessionId, shown.id) };
  }

  async function endReplayed({ session_id: sessionId, user_id: userId }: ShownToken, { ip }: Client): Promise<void> {
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

  return {
    async open(person, client, known) {
      const [id, now] = [ids.uuid(), clock.now()];
      known(userPrincipal(person, id), id);
      const stamps = { created_at: now, refreshed_at: now, last_used_at: now };
      const { token, displaced } = await store.write(async (rows) => {
        await rows.addSession({ id, user_id: person.id, version: person.version, ip: client.ip, user_agent: client.userAgent, ...stamps });
        await directory.noteLogin(person.id);
        return { token: await addRefreshToken(rows, id, null), displaced: await rows.endOldest(person.id, mostSessions, now) };
      });
      displaced.forEach((session) => ended(session.id, session.user_id));
      return signedIn(person, id, token);
    },

    async refresh(token, client, known) {
      try {
        const { person, sessionId, successor } = await store.write((rows) => rotate(rows, token, client, known));
        return signedIn(person, sessionId, successor);
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

    async leave({ kind, id, session }) {
      if (kind !== 'user' || session === undefined) {
        throw new SvcError('conflict', 'only a session that began with a login can be logged out; delete an API token instead');
      }
      await endOne(Number(id), session);
    },

    async endOutdated(userId) {
      const ending = await store.write((rows) => rows.endOutdated(userId, directory.live(userId)?.version, clock.now()));
      ending.forEach((session) => ended(session.id, session.user_id));
    },
  };
}

const isAlive = ({ ended_at: endedAt, created_at: createdAt, issued_at: issuedAt, version }: ShownToken, person: Person, now: number): boolean =>
  endedAt === null && createdAt > now - sessionMs && issuedAt > now - sessionIdleMs && person.status === 'active' && person.version === version;

/** One sentence for every reason, so that none of them can be found out by asking. */
const refused = (): SvcError => new SvcError('unauthorized', refusal);
const refusal = 'the refresh token is not valid or has expired; sign in again';

class Replayed extends SvcError {
  readonly shown: ShownToken;

  constructor(shown: ShownToken) {
    super('unauthorized', refusal);
    this.shown = shown;
  }
}
