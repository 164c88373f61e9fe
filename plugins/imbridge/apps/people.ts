import { createHash } from 'node:crypto';

import type { DirectoryContract, Person } from 'svc/contracts/iam';
import {
  type AuditNote,
  type Clock,
  type Ids,
  type Page,
  type PageRequest,
  type Principal,
  type Tables,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import type { LinkCode, LinkShown } from './schema.ts';
import type { AppRow, ImTables } from '../store/tables.ts';

export interface PeopleParts {
  readonly tables: Tables<ImTables>;
  readonly directory: Pick<DirectoryContract, 'live' | 'grantsOf' | 'narrows'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Author of a message, as far as svc knows: a person with their current permissions, or a stranger
 * with the app's role.
 */
export interface Sender {
  readonly principal: Principal;
  readonly linked: boolean;
}

const codeLivesMs = 10 * 60_000;
const maxCodes = 5;
const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** Which accounts of chat platforms are whose. */
export class People {
  readonly #parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.#parts = parts;
  }

  /** Disabled and deleted people are strangers, at once. Strangers see no device where members of an organization see some alone. */
  async senderOf(
    app: Pick<AppRow, 'id' | 'default_role' | 'name'>,
    sender: string,
  ): Promise<Sender> {
    const { tables, directory } = this.#parts;
    const link = await tables.read
      .selectFrom('imbridge_links')
      .select('user_id')
      .where('app_id', '=', app.id)
      .where('sender', '=', sender)
      .executeTakeFirst();
    const person = link && directory.live(link.user_id);
    if (person === undefined || person.status !== 'active') {
      const role = app.default_role;
      // Otherwise someone whose account was deleted would see here what it did not show them.
      const selectors = directory.narrows() ? { selectors: [] } : {};
      const id = `im:${app.id}:${digestOf(sender).slice(0, 24)}`;
      return {
        linked: false,
        principal: {
          kind: 'plugin',
          id,
          name: `unlinked sender of ${app.name}`,
          role,
          grants: directory.grantsOf(role),
          ...selectors,
        },
      };
    }
    return { linked: true, principal: principalOf(person) };
  }

  async issueCode(principal: Principal): Promise<Static<typeof LinkCode>> {
    if (principal.kind !== 'user') {
      throw errors.link_by_people();
    }
    const { tables, clock, ids } = this.#parts;
    const code = ids.token(12);
    const now = clock.now();
    const row = {
      digest: digestOf(code),
      user_id: Number(principal.id),
      expires_at: Math.floor(now) + codeLivesMs,
    };
    await tables.write(async (tx) => {
      await tx.deleteFrom('imbridge_codes').where('expires_at', '<=', now).execute();
      const older = await tx
        .selectFrom('imbridge_codes')
        .select('digest')
        .where('user_id', '=', row.user_id)
        .orderBy('expires_at', 'desc')
        .offset(maxCodes - 1)
        .limit(100)
        .execute();
      await tx
        .deleteFrom('imbridge_codes')
        .where(
          'digest',
          'in',
          older.map(({ digest }) => digest),
        )
        .execute();
      await tx.insertInto('imbridge_codes').values(row).execute();
    });
    return { code, expires_at: timestamp(row.expires_at) };
  }

  /** Redeems a code and returns its owner. Undefined for an unknown, used or expired one. */
  async redeem(
    appId: string,
    sender: { readonly id: string; readonly name: string },
    code: string,
  ): Promise<Principal | undefined> {
    const { tables, clock, ids, directory } = this.#parts;
    return await tables.write(async (tx) => {
      const spent = await tx
        .deleteFrom('imbridge_codes')
        .where('digest', '=', digestOf(code))
        .returningAll()
        .executeTakeFirst();
      const person =
        spent && spent.expires_at > clock.now() ? directory.live(spent.user_id) : undefined;
      if (person === undefined || person.status !== 'active') {
        return undefined;
      }
      await tx
        .deleteFrom('imbridge_links')
        .where('app_id', '=', appId)
        .where('sender', '=', sender.id)
        .execute();
      await tx
        .insertInto('imbridge_links')
        .values({
          id: ids.uuid(),
          app_id: appId,
          sender: sender.id,
          sender_name: sender.name,
          user_id: person.id,
          created_at: Math.floor(clock.now()),
        })
        .execute();
      return principalOf(person);
    });
  }

  /** Invalidates a code that others have seen. */
  async spend(code: string): Promise<void> {
    await this.#parts.tables.write((tx) =>
      tx.deleteFrom('imbridge_codes').where('digest', '=', digestOf(code)).execute(),
    );
  }

  /** Returns the linked active people, who may get our messages. */
  async linkedTo(
    appId: string,
  ): Promise<readonly { readonly sender: string; readonly user_id: number }[]> {
    const rows = await this.#parts.tables.read
      .selectFrom('imbridge_links')
      .select(['sender', 'user_id'])
      .where('app_id', '=', appId)
      .execute();
    return rows.filter(({ user_id: id }) => this.#parts.directory.live(id)?.status === 'active');
  }

  async forget(appId: string, sender: string): Promise<boolean> {
    const { numDeletedRows } = await this.#parts.tables.write((tx) =>
      tx
        .deleteFrom('imbridge_links')
        .where('app_id', '=', appId)
        .where('sender', '=', sender)
        .executeTakeFirst(),
    );
    return numDeletedRows > 0n;
  }

  async links(principal: Principal, page: PageRequest): Promise<Page<Static<typeof LinkShown>>> {
    const rows = this.#parts.tables.read
      .selectFrom('imbridge_links')
      .innerJoin('imbridge_apps', 'imbridge_apps.id', 'imbridge_links.app_id')
      .select([
        'imbridge_links.id',
        'imbridge_links.app_id',
        'imbridge_apps.name as app_name',
        'imbridge_apps.provider',
      ])
      .select([
        'imbridge_links.sender',
        'imbridge_links.sender_name',
        'imbridge_links.user_id',
        'imbridge_links.created_at',
      ])
      .$if(!principal.grants.includes('*'), (query) =>
        query.where('imbridge_links.user_id', '=', ownId(principal)),
      );
    const { limit, after } = page;
    const { total } = await this.#parts.tables.read
      .selectFrom('imbridge_links')
      .select((of) => of.fn.countAll<number>().as('total'))
      .$if(!principal.grants.includes('*'), (query) =>
        query.where('user_id', '=', ownId(principal)),
      )
      .executeTakeFirstOrThrow();
    const found = await rows
      .$if(after !== undefined, (query) => query.where('imbridge_links.id', '<', String(after![0])))
      .orderBy('imbridge_links.id', 'desc')
      .limit(limit + 1)
      .execute();
    const items = found
      .slice(0, limit)
      .map((row) => ({ ...row, created_at: timestamp(row.created_at) }));
    return { items, total, next: found.length > limit ? [items.at(-1)!.id] : undefined };
  }

  async unlink(principal: Principal, id: string, note: (note: AuditNote) => void): Promise<void> {
    const removed = await this.#parts.tables.write((tx) =>
      tx
        .deleteFrom('imbridge_links')
        .where('id', '=', id)
        .$if(!principal.grants.includes('*'), (query) =>
          query.where('user_id', '=', ownId(principal)),
        )
        .returning(['user_id', 'sender'])
        .executeTakeFirst(),
    );
    if (removed === undefined) {
      throw errors.no_link({ id: id.slice(0, 40) });
    }
    note({ resourceType: 'im link', resourceId: id, before: removed });
  }
}

const principalOf = ({
  id,
  email,
  display_name: name,
  role,
  grants,
  orgs,
  selectors,
}: Person): Principal => ({
  kind: 'user',
  id: String(id),
  email,
  name,
  role,
  grants,
  ...(orgs !== undefined && { orgs }),
  ...(selectors !== undefined && { selectors }),
});

/** Tokens act for their person; what is no person has no links. */
const ownId = ({ kind, id }: Principal): number =>
  kind === 'user' || kind === 'token' ? Number(id) : -1;
