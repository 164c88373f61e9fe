import type { ImApp, ImPlatform } from 'svc/contracts/imbridge';
import {
  type Call,
  type Clock,
  covers,
  type Ids,
  isSvcError,
  type OpenPoint,
  type Page,
  type PageRequest,
  pageOf,
  type Principal,
  type Secrets,
  type SvcError,
  type Tables,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import type { AppShown, Draft, Revealed } from './schema.ts';
import type { AppRow, ImTables } from '../store/tables.ts';

export interface AppParts {
  readonly tables: Tables<ImTables>;
  readonly secrets: Secrets;
  readonly platforms: OpenPoint<ImPlatform>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
  readonly grantsOf: (role: string) => readonly string[];
  /** Called after the commit that changed or deleted an app. */
  readonly changed: () => void;
}

type Change = Pick<Call, 'note' | 'requireMatch' | 'principal'>;
type Shown = Static<typeof AppShown>;

export const mask = '••••';
const secretNames = ['app_secret', 'verify_token', 'encrypt_key'] as const;
const maxApps = 100;
const recentlyMs = 5 * 60_000;

/** Apps of chat platforms as administrators keep them; their secrets leave here only opened for one use. */
export class Apps {
  readonly #parts: AppParts;

  constructor(parts: AppParts) {
    this.#parts = parts;
  }

  async list(page: PageRequest): Promise<Page<Shown>> {
    const { items, ...rest } = await pageOf(
      this.#parts.tables.read.selectFrom('imbridge_apps').selectAll(),
      'id',
      page,
    );
    return { ...rest, items: items.map((row) => this.#shown(row)) };
  }

  async get(id: string): Promise<Shown> {
    return this.#shown(await this.row(id));
  }

  /** Returns an app, including a disabled one. */
  async row(id: string): Promise<AppRow> {
    const row = await this.#parts.tables.read
      .selectFrom('imbridge_apps')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) {
      throw errors.no_app({ id });
    }
    return row;
  }

  enabled(): Promise<AppRow[]> {
    return this.#parts.tables.read
      .selectFrom('imbridge_apps')
      .selectAll()
      .where('enabled', '=', 1)
      .orderBy('id')
      .execute();
  }

  create(call: Change, draft: Draft): Promise<Shown> {
    const { tables, clock, ids } = this.#parts;
    return this.#write(async (tx) => {
      const { count } = await tx
        .selectFrom('imbridge_apps')
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      if (count >= maxApps) {
        throw errors.max_apps({ max: maxApps });
      }
      const now = clock.now();
      const id = ids.uuid();
      const row: AppRow = {
        id,
        ...this.#fields(id, draft, undefined, call.principal),
        cursor: '',
        created_at: now,
        updated_at: now,
      };
      await this.#requireFreeName(tx, row);
      await tx.insertInto('imbridge_apps').values(row).execute();
      const after = this.#shown(row);
      call.note({ resourceType: 'im app', resourceId: id, after });
      return after;
    }, tables);
  }

  replace(call: Change, id: string, draft: Draft): Promise<Shown> {
    const { tables, clock } = this.#parts;
    return this.#write(async (tx) => {
      const row = await tx
        .selectFrom('imbridge_apps')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined) {
        throw errors.no_app({ id });
      }
      const before = this.#shown(row);
      call.requireMatch(before);
      if (draft.provider !== row.provider) {
        throw invalid(
          'provider',
          `cannot be changed from ${row.provider}; connect another app instead`,
        );
      }
      const updated: AppRow = {
        ...row,
        ...this.#fields(id, draft, row, call.principal),
        updated_at: Math.max(row.updated_at + 1, clock.now()),
      };
      await this.#requireFreeName(tx, updated);
      await tx.updateTable('imbridge_apps').set(updated).where('id', '=', id).execute();
      const after = this.#shown(updated);
      call.note({ resourceType: 'im app', resourceId: id, before, after });
      return after;
    }, tables);
  }

  /** Deletes an app with its links, threads and pending messages. */
  async remove(call: Change, id: string): Promise<void> {
    const before = await this.get(id);
    call.requireMatch(before);
    await this.#write(async (tx) => {
      await tx.deleteFrom('imbridge_apps').where('id', '=', id).execute();
      call.note({ resourceType: 'im app', resourceId: id, before });
    }, this.#parts.tables);
  }

  /** A stolen session must not empty svc: only who has shown a password lately sees secrets. */
  async reveal(id: string, { kind, authenticatedAt }: Principal): Promise<Static<typeof Revealed>> {
    const isRecent =
      authenticatedAt !== undefined && this.#parts.clock.now() - authenticatedAt <= recentlyMs;
    if (kind !== 'operator' && !(kind === 'user' && isRecent)) {
      throw errors.sign_in_again();
    }
    const row = await this.row(id);
    const opened = this.open(row);
    return {
      app_secret: opened.app_secret || null,
      verify_token: opened.verify_token || null,
      encrypt_key: opened.encrypt_key || null,
    };
  }

  open(row: AppRow): ImApp {
    const { secrets } = this.#parts;
    const secret = (column: (typeof secretNames)[number]): string => {
      const sealed = row[column];
      return sealed === null
        ? ''
        : secrets.open({ table: 'imbridge_apps', row: row.id, column }, sealed);
    };
    try {
      const { id, app_id, endpoint } = row;
      return {
        id,
        app_id,
        endpoint,
        app_secret: secret('app_secret'),
        verify_token: secret('verify_token'),
        encrypt_key: secret('encrypt_key'),
      };
    } catch (error) {
      throw isSvcError(error) ? errors.sealed({ name: row.name }, { cause: error }) : error;
    }
  }

  platform(provider: string): ImPlatform | undefined {
    return this.#parts.platforms.list().find(({ id }) => id === provider)?.value;
  }

  #write<R>(work: Parameters<Tables<ImTables>['write']>[0], tables: Tables<ImTables>): Promise<R> {
    return tables.write(work).then((result) => {
      this.#parts.changed();
      return result as R;
    });
  }

  #fields(id: string, draft: Draft, old: AppRow | undefined, principal: Principal) {
    const platform = this.platform(draft.provider);
    if (platform === undefined) {
      throw invalid(
        'provider',
        `is one of ${
          this.#parts.platforms
            .list()
            .map((each) => each.id)
            .join(', ') || 'none: no room of a platform is enabled'
        }`,
      );
    }
    const mode = draft.mode ?? 'callback';
    const needs = platform.needs[mode];
    if (needs === undefined) {
      throw invalid(
        'mode',
        `${platform.title} does not support ${mode}, but ${Object.keys(platform.needs).join(', ')}`,
      );
    }
    const allowed = [...new Set(draft.allow_from ?? [])];
    if (platform.allow_list && (allowed.length === 0 || allowed.includes('*'))) {
      throw invalid(
        'allow_from',
        `must name who may write to the bot: anyone can find a ${platform.title} bot`,
      );
    }
    const role = draft.default_role ?? 'viewer';
    this.#requireRole(role, principal);
    const endpoint = (draft.endpoint ?? '').replace(/\/+$/, '');
    const isMoved = old !== undefined && old.endpoint !== endpoint;
    const opened = old && this.open(old);
    const plain = Object.fromEntries(
      secretNames.map((name) => {
        const given = draft[name];
        if (given === mask && isMoved && opened?.[name]) {
          throw invalid(
            name,
            'must be entered again when the endpoint changes: a stored secret is sent only to the address it was entered for',
          );
        }
        return [name, given === mask ? (opened?.[name] ?? '') : (given ?? '')];
      }),
    ) as Record<(typeof secretNames)[number], string>;
    const [missing, ...others] = needs.filter((name) => plain[name] === '');
    if (missing !== undefined) {
      throw invalid(
        missing,
        `is needed for ${platform.title} with the mode ${mode}${others.map((name) => `, and so is ${name}`).join('')}`,
      );
    }
    platform.check({ id, app_id: draft.app_id, endpoint, ...plain });
    const sealed = Object.fromEntries(
      secretNames.map((column) => [
        column,
        plain[column] === ''
          ? null
          : this.#parts.secrets.seal({ table: 'imbridge_apps', row: id, column }, plain[column]),
      ]),
    ) as Record<(typeof secretNames)[number], string | null>;
    return {
      provider: draft.provider,
      name: draft.name.trim(),
      app_id: draft.app_id,
      ...sealed,
      allow_from: JSON.stringify(allowed),
      endpoint,
      mode,
      default_agent: draft.default_agent ?? null,
      default_role: role,
      locale: draft.locale ?? 'en',
      enabled: draft.enabled === false ? 0 : 1,
    };
  }

  /** Throws if the role exceeds the caller's own permissions, or grants everything. */
  #requireRole(role: string, { grants }: Principal): void {
    const given = this.#parts.grantsOf(role);
    if (role !== 'viewer' && given.length === 0) {
      throw invalid('default_role', `there is no role ${role} that grants anything`);
    }
    const excess = given.find(
      (action) => action === '*' || !grants.some((grant) => covers(grant, action)),
    );
    if (excess !== undefined) {
      throw invalid(
        'default_role',
        excess === '*'
          ? 'must not be a role that may do everything, because the sender is not a known person'
          : `grants ${excess}, which you do not hold`,
      );
    }
  }

  async #requireFreeName(tx: Tables<ImTables>['read'], { id, name }: AppRow): Promise<void> {
    if (
      (await tx
        .selectFrom('imbridge_apps')
        .select('id')
        .where('name', '=', name)
        .where('id', '<>', id)
        .executeTakeFirst()) !== undefined
    ) {
      throw errors.app_name_taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
    }
  }

  #shown({ cursor: _cursor, ...row }: AppRow): Shown {
    const hidden = (sealed: string | null): string | null => (sealed === null ? null : mask);
    return {
      ...row,
      app_secret: hidden(row.app_secret),
      verify_token: hidden(row.verify_token),
      encrypt_key: hidden(row.encrypt_key),
      allow_from: JSON.parse(row.allow_from) as string[],
      enabled: row.enabled === 1,
      callback_url: `${this.#parts.publicUrl().replace(/\/$/, '')}/api/v1/im/${row.provider}/events?app=${row.id}`,
      created_at: timestamp(row.created_at),
      updated_at: timestamp(row.updated_at),
    };
  }
}

const invalid = (field: string, message: string): SvcError =>
  errors.invalid_app({ field, message }, { details: [{ path: `/${field}`, message }] });
