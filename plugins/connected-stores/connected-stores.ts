import { parseDuration } from 'svc/query';
import { addressOf, type ConnectionAddress, type Trial } from 'svc/connection';
import type { DeviceReports } from 'svc/contracts/device';
import {
  type Call,
  type Clock,
  type Handle,
  isSvcError,
  type Page,
  type PageRequest,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { errors } from './errors.ts';
import { type History, historyOf } from './history/history.ts';
import type { HostRule } from './hosts/host-rule.ts';
import { namingRules } from './hosts/host-rules.ts';
import { preview, type PreviewParts } from './preview.ts';
import type { Readable, Reader } from './reader.ts';
import type { Read } from './reading.ts';
import type { Preview, StoreChange, StoreDraft, StoreShown, StoreTrial } from './schema.ts';
import { type ServerRow, serverStore, type ServerTables } from './server-store.ts';

export interface ConnectedStoresParts extends PreviewParts {
  readonly tables: Tables<ServerTables>;
  readonly secrets: Secrets;
  readonly reports: Handle<DeviceReports>;
  readonly clock: Clock;
  readonly reader: Reader;
  /** Ends with the plugin. */
  readonly signal: AbortSignal;
}

type Actor = Pick<Call, 'note' | 'requireMatch' | 'signal'>;

const maxStores = 50;
const day = 86_400_000;

/** Stores elsewhere, as people connect and see them. */
export class ConnectedStores {
  readonly #parts: ConnectedStoresParts;

  constructor(parts: ConnectedStoresParts) {
    this.#parts = parts;
  }

  async list(page: PageRequest): Promise<Page<StoreShown>> {
    const { items, ...rest } = await serverStore(this.#parts.tables.read).list(page);
    return { ...rest, items: items.map((row) => this.#shown(row)) };
  }

  async get(name: string): Promise<StoreShown> {
    return this.#shown(await this.#row(name));
  }

  /** Tells what an address would bring, with the credentials that come with it. */
  try({ host_rules: rules = [], copied: _, ...trial }: StoreTrial, call: Actor): Promise<Preview> {
    return preview(this.#parts, {
      name: '',
      address: addressOf(trial)!,
      rules: namingRules(rules),
      signal: call.signal,
    });
  }

  /** Tells what a connected store brings, or would bring with other rules. */
  async previewOf(
    name: string,
    rules: readonly HostRule[] | undefined,
    call: Pick<Call, 'signal'>,
  ): Promise<Preview> {
    const row = await this.#row(name);
    return await preview(this.#parts, {
      name,
      address: this.#addressOf(row),
      rules: namingRules(rules ?? hostRulesOf(row)),
      signal: call.signal,
    });
  }

  /** Connects a store that answers, and begins to read it. */
  async connect(call: Actor, draft: StoreDraft): Promise<StoreShown> {
    const { name, url, host_rules: rules = [], copied = [], history = '0', ...credentials } = draft;
    const span = spanOf(history);
    namingRules(rules);
    await this.#demandAnswer(addressOf({ url, ...credentials })!, call);
    const { tables, clock, secrets } = this.#parts;
    const row = await tables.write(async (tx) => {
      const store = serverStore(tx);
      const all = await store.all();
      if (all.some(({ name: other }) => other === name)) {
        throw errors.taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
      }
      if (all.length >= maxStores) {
        throw errors.too_many({ max: maxStores });
      }
      const now = Math.floor(clock.now());
      const wanted = historyOf(span, now);
      const made = await store.insert({
        name,
        url: withoutSlash(url),
        credentials: null,
        host_rules: JSON.stringify(rules),
        copied: JSON.stringify(copied),
        history: wanted === undefined ? null : JSON.stringify(wanted),
        created_at: now,
        updated_at: now,
      });
      const sealed = await store.update(made.id, {
        credentials: isEmpty(credentials)
          ? null
          : secrets.seal(placeOf(made.id), JSON.stringify(credentials)),
      });
      call.note({
        resourceType: 'connected store',
        resourceId: name,
        after: settledOf(this.#shown(sealed)),
      });
      return sealed;
    });
    await this.#read(row);
    return this.#shown(row);
  }

  /** Changes what is named; credentials are replaced as a whole, and kept when none are sent. */
  async change(call: Actor, name: string, change: StoreChange): Promise<StoreShown> {
    const { url, host_rules: rules, copied, ...credentials } = change;
    namingRules(rules ?? []);
    const before = await this.#row(name);
    const next = isEmpty(credentials) ? this.#credentialsOf(before) : credentials;
    // Stored credentials never go to another address than the one they were entered for.
    const kept = url !== undefined && withoutSlash(url) !== before.url ? credentials : next;
    await this.#demandAnswer(addressOf({ url: url ?? before.url, ...kept })!, call);
    const { tables, clock, secrets } = this.#parts;
    const row = await tables.write(async (tx) => {
      const now = (await serverStore(tx).find(name)) ?? missing(name);
      call.requireMatch(this.#shown(now));
      const after = await serverStore(tx).update(now.id, {
        url: withoutSlash(url ?? now.url),
        credentials: isEmpty(kept) ? null : secrets.seal(placeOf(now.id), JSON.stringify(kept)),
        ...(rules !== undefined && { host_rules: JSON.stringify(rules) }),
        ...(copied !== undefined && { copied: JSON.stringify(copied) }),
        updated_at: Math.max(now.updated_at + 1, Math.floor(clock.now())),
      });
      call.note({
        resourceType: 'connected store',
        resourceId: name,
        before: settledOf(this.#shown(now)),
        after: settledOf(this.#shown(after)),
      });
      return after;
    });
    await this.#read(row);
    return this.#shown(row);
  }

  /** Disconnects a store; its devices and the figures that were copied stay. */
  async disconnect(call: Actor, name: string): Promise<void> {
    const { tables, reader, reports } = this.#parts;
    await tables.write(async (tx) => {
      const row = (await serverStore(tx).find(name)) ?? missing(name);
      call.requireMatch(this.#shown(row));
      await serverStore(tx).remove(row.id);
      call.note({
        resourceType: 'connected store',
        resourceId: name,
        before: settledOf(this.#shown(row)),
      });
    });
    await reader.stateOf(name)?.running;
    await reader.forget(name);
    if (reports.available) {
      await reports.get().withdraw(name);
    }
  }

  async readNow(name: string): Promise<StoreShown> {
    const row = await this.#row(name);
    await this.#read(row);
    return this.#shown(row);
  }

  /** Reads all stores at the same time, each at its own pace. */
  async readAll(): Promise<void> {
    const rows = await serverStore(this.#parts.tables.read).all();
    await Promise.all(rows.map((row) => this.#read(row)));
  }

  #read(row: ServerRow): Promise<void> {
    return this.#parts.reader.read(this.#readable(row), this.#parts.signal);
  }

  #readable(row: ServerRow): Readable {
    return {
      name: row.name,
      address: () => this.#addressOf(row),
      rules: namingRules(hostRulesOf(row)),
      copied: JSON.parse(row.copied) as string[],
      version: row.updated_at,
      history: historyIn(row),
      saveHistory: async (history) => {
        await this.#parts.tables.write((tx) =>
          serverStore(tx).setHistory(row.id, JSON.stringify(history)),
        );
      },
    };
  }

  async #demandAnswer(address: ConnectionAddress, call: Pick<Call, 'signal'>): Promise<void> {
    const { test } = await preview(this.#parts, {
      name: '',
      address,
      rules: [],
      signal: call.signal,
    });
    if (!test.ok) {
      throw errors.not_connected({ detail: test.detail });
    }
  }

  #addressOf(row: ServerRow): ConnectionAddress {
    return addressOf({ ...this.#credentialsOf(row), url: row.url })!;
  }

  #credentialsOf({ id, name, credentials }: ServerRow): Trial {
    if (credentials === null) {
      return {};
    }
    try {
      return JSON.parse(this.#parts.secrets.open(placeOf(id), credentials)) as Trial;
    } catch (error) {
      throw isSvcError(error) ? errors.sealed({ name }, { cause: error }) : error;
    }
  }

  async #row(name: string): Promise<ServerRow> {
    return (await serverStore(this.#parts.tables.read).find(name)) ?? missing(name);
  }

  #shown(row: ServerRow): StoreShown {
    const { last, failure } = this.#parts.reader.stateOf(row.name) ?? {};
    const history = shownHistory(historyIn(row));
    return {
      name: row.name,
      url: row.url,
      has_credentials: row.credentials !== null,
      host_rules: [...hostRulesOf(row)],
      copied: JSON.parse(row.copied) as string[],
      state: failure !== undefined ? 'failing' : last === undefined ? 'waiting' : 'ok',
      detail: failure?.detail ?? detailOf(last, history),
      failing_since: failure === undefined ? null : timestamp(failure.since),
      read_at: last === undefined ? null : timestamp(last.at),
      hosts: last?.hosts ?? 0,
      series: last?.series ?? 0,
      read_ms: last?.ms ?? 0,
      history,
      created_at: timestamp(row.created_at),
      updated_at: timestamp(row.updated_at),
    };
  }
}

/** Fields that a person has set, without how reading goes. */
const settledOf = ({ name, url, host_rules, copied, has_credentials }: StoreShown) => ({
  name,
  url,
  host_rules,
  copied,
  has_credentials,
});

const historyIn = ({ history }: ServerRow): History | undefined =>
  history === null ? undefined : (JSON.parse(history) as History);

function shownHistory(history: History | undefined): StoreShown['history'] {
  if (history === undefined) {
    return null;
  }
  const { state, from, to, through, samples, detail } = history;
  return {
    state,
    from: timestamp(from),
    to: timestamp(to),
    through: timestamp(through),
    percent: to === from ? 100 : Math.floor((100 * (through - from)) / (to - from)),
    samples,
    detail,
  };
}

function detailOf(last: Pick<Read, 'leftOut'> | undefined, history: StoreShown['history']): string {
  if (last === undefined) {
    return 'not read yet';
  }
  if (history?.state === 'copying') {
    return `copying its history: ${history.percent} %`;
  }
  return last.leftOut > 0
    ? `${last.leftOut} series are beyond the limit of one store and are not copied`
    : history?.state === 'incomplete'
      ? `its history was copied up to ${history.through} only: ${history.detail}`
      : (history?.detail ?? '');
}

/** Milliseconds of a history as it is asked for. */
function spanOf(history: string): number {
  const span = history === '0' ? 0 : parseDuration(history);
  if (span > 30 * day) {
    throw errors.long_history({ history });
  }
  return span;
}

const hostRulesOf = ({ host_rules: rules }: ServerRow): readonly HostRule[] =>
  JSON.parse(rules) as HostRule[];
const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
const isEmpty = (fields: object): boolean =>
  Object.values(fields).every((value) => value === undefined || value === '' || value === false);

const placeOf = (id: number) => ({
  table: 'connected_stores_servers',
  row: String(id),
  column: 'credentials',
});

const missing = (name: string): never => {
  throw errors.unknown({ name });
};
