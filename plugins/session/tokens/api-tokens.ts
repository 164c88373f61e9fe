import type { DirectoryContract } from 'svc/contracts/iam';
import {
  type Clock,
  covers,
  type Ids,
  type MaybePromise,
  type Page,
  type PageRequest,
  type Principal,
} from 'svc/sdk';

import { digest } from '../store/digest.ts';
import { intersection, reading, withReading } from '../store/grants.ts';
import { longestApiTokenMs } from '../store/lifetimes.ts';
import { askedUser, assertInPerson, ownId, reachOf } from '../store/reach.ts';
import type { Store } from '../store/store.ts';
import type { ApiTokenRow } from '../store/tables.ts';
import { errors } from './errors.ts';
import { tokenPrincipal } from './principals.ts';
import type { Uses } from './uses.ts';

export const apiTokenPrefix = 'svc_pat_';

export interface NewApiToken {
  readonly name: string;
  readonly actions: readonly string[];
  readonly expires_at: string;
  /** User id, given by an operator, who has no account and makes tokens for others. */
  readonly user_id?: number;
}

export interface ApiTokenParts {
  readonly store: Store;
  readonly directory: DirectoryContract;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly uses: Uses;
  readonly ended: (sessionId: string, userId: number) => void;
  /** Actions that there are at the moment. */
  readonly declared: () => readonly string[];
}

/** Cached token; `grants` is what it and its person had in common at the last use. */
interface Known {
  readonly id: number;
  readonly userId: number;
  readonly version: number;
  readonly actions: readonly string[];
  readonly expiresAt: number;
  met: { readonly held: readonly string[]; readonly grants: readonly string[] } | undefined;
}

const form = /^svc_pat_[\w-]{43}$/;
const mostPerPerson = 50;
const mostRemembered = 10_000;

/** Tokens that let programs act for a person, within fewer actions and for a limited time. */
export class ApiTokens {
  readonly #parts: ApiTokenParts;
  readonly #remembered = new Map<string, Known>();
  /** Counter of dropped tokens: what was read before an increment must not be cached after it. */
  #forgotten = 0;

  constructor(parts: ApiTokenParts) {
    this.#parts = parts;
  }

  /** `made` runs in the write, before its commit. */
  async create(
    actor: Principal,
    wish: NewApiToken,
    made: (id: number) => void,
  ): Promise<{ readonly row: ApiTokenRow; readonly token: string }> {
    const { store, directory, clock, ids } = this.#parts;
    const { name, actions } = wish;
    const owner = ownerOf(actor, wish.user_id);
    const person = directory.live(owner);
    if (!person) {
      throw errors.no_active_user(
        { owner },
        { details: [{ path: '/user_id', message: 'is not an active user' }] },
      );
    }
    const held = [...(actor.kind === 'operator' ? person : actor).grants, reading];
    assertHeld(actions, held);
    assertKnown(actions, [...held, ...this.#parts.declared()]);
    const now = clock.now();
    const expiresAt = expiryOf(wish, now);
    const token = apiTokenPrefix + ids.token(32);
    const fresh = {
      user_id: owner,
      name,
      hash: digest(token),
      actions: JSON.stringify([...new Set(actions)]),
      created_at: now,
      expires_at: expiresAt,
    };
    const row = await store.write(async (rows) => {
      if ((await rows.apiTokens.count(owner)) >= mostPerPerson) {
        throw errors.too_many_tokens({ max: mostPerPerson });
      }
      // A session that a reset is ending must not leave a token behind that outlives it.
      const version =
        actor.kind === 'operator' ? person.version : await rows.sessions.versionOf(actor);
      const added = await rows.apiTokens.add({ ...fresh, version });
      made(added.id);
      return added;
    });
    return { row, token };
  }

  list(
    actor: Principal,
    userId: number | undefined,
    page: PageRequest,
  ): Promise<Page<ApiTokenRow>> {
    return this.#parts.store.read.apiTokens.list(askedUser(actor, userId), page);
  }

  async revoke(actor: Principal, id: number): Promise<void> {
    assertInPerson(actor);
    const row = await this.#parts.store.write(async (rows) => {
      const removed = await rows.apiTokens.remove(reachOf(actor), id);
      if (!removed) {
        throw errors.no_api_token({ id });
      }
      return removed;
    });
    this.#parts.ended(sessionOf(row.id), row.user_id);
  }

  /**
   * Removes the actions of a deleted area: another one that takes that name finds no token that
   * holds them. A token that held nothing else ends.
   */
  async forgetArea(area: string): Promise<void> {
    const changed = await this.#parts.store.write(async (rows) => {
      const naming = await rows.apiTokens.naming(area);
      for (const { id, actions } of naming) {
        const left = (JSON.parse(actions) as string[]).filter(
          (action) => !action.startsWith(`${area}:`) && action !== `read:${area}`,
        );
        await (left.length === 0
          ? rows.apiTokens.remove('everyone', id)
          : rows.apiTokens.narrow(id, left));
      }
      return naming;
    });
    changed.forEach(({ id }) => this.forget(sessionOf(id)));
  }

  /** Returns the principal of this token; synchronously if it was seen before. */
  recognise(token: string): MaybePromise<Principal | undefined> {
    if (!form.test(token)) {
      return undefined;
    }
    const hash = digest(token);
    const known = this.#remembered.get(hash);
    return known ? this.#principalOf(known) : this.#find(hash);
  }

  forget(session: string): void {
    this.#forgotten += 1;
    for (const [hash, { id }] of this.#remembered) {
      if (sessionOf(id) === session) {
        this.#remembered.delete(hash);
      }
    }
  }

  async #find(hash: string): Promise<Principal | undefined> {
    const before = this.#forgotten;
    const row = await this.#parts.store.read.apiTokens.find(hash);
    if (!row) {
      return undefined;
    }
    const { id, user_id: userId, version, expires_at: expiresAt } = row;
    const known: Known = {
      id,
      userId,
      version,
      actions: JSON.parse(row.actions) as string[],
      expiresAt,
      met: undefined,
    };
    if (before === this.#forgotten) {
      if (this.#remembered.size >= mostRemembered) {
        this.#remembered.delete(this.#remembered.keys().next().value!);
      }
      this.#remembered.set(hash, known);
    }
    return this.#principalOf(known);
  }

  #principalOf(known: Known): Principal | undefined {
    const { clock, directory, uses } = this.#parts;
    const person = known.expiresAt > clock.now() ? directory.live(known.userId) : undefined;
    if (person?.status !== 'active' || person.version !== known.version) {
      return undefined;
    }
    if (known.met?.held !== person.grants) {
      known.met = {
        held: person.grants,
        grants: intersection(withReading(known.actions), [...person.grants, reading]),
      };
    }
    uses.apiToken(known.id);
    return tokenPrincipal(person, sessionOf(known.id), known.met.grants);
  }
}

/** The session that requests with an API token belong to; never the id of one that began with a login. */
const sessionOf = (tokenId: number): string => `token-${tokenId}`;

function ownerOf(actor: Principal, userId: number | undefined): number {
  assertInPerson(actor);
  if (actor.kind === 'operator') {
    if (userId === undefined) {
      throw errors.user_id_missing({ details: [{ path: '/user_id', message: 'is required' }] });
    }
    return userId;
  }
  if (userId !== undefined && userId !== ownId(actor)) {
    throw errors.acts_for_maker();
  }
  return ownId(actor);
}

function expiryOf({ expires_at: until }: NewApiToken, now: number): number {
  const expiresAt = Date.parse(until);
  if (expiresAt <= now || expiresAt > now + longestApiTokenMs) {
    const message = expiresAt <= now ? 'is in the past' : 'is more than a year away';
    throw errors.expires_at({ message }, { details: [{ path: '/expires_at', message }] });
  }
  return expiresAt;
}

/** A name that nothing asks for would give a token that can do less than it seems. */
function assertKnown(actions: readonly string[], known: readonly string[]): void {
  const areas = known
    .filter((action) => action.includes(':') && action !== reading)
    .map((action) => `${action.slice(0, action.indexOf(':'))}:*`);
  const index = actions.findIndex(
    (action) => action !== '*' && !known.includes(action) && !areas.includes(action),
  );
  if (index >= 0) {
    throw errors.no_action(
      { action: String(actions[index]), area: areas[0] ?? 'edge:*' },
      { details: [{ path: `/actions/${index}`, message: 'is not a declared action' }] },
    );
  }
}

function assertHeld(actions: readonly string[], held: readonly string[]): void {
  const index = actions.findIndex((action) => !held.some((grant) => covers(grant, action)));
  if (index >= 0) {
    const message = `${actions[index]} is not among your own actions`;
    throw errors.beyond_you({ message }, { details: [{ path: `/actions/${index}`, message }] });
  }
}
