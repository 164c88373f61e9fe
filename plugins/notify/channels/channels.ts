import type {
  ChannelAddress,
  ChannelType,
  NoticeDispatcher,
  NoticeSource,
} from 'svc/contracts/notify';
import { formatDuration, parseDuration } from 'svc/query';
import {
  type Call,
  type Clock,
  type Handle,
  type Ids,
  type Page,
  type PageRequest,
  type Settings,
  type SvcError,
  type Tables,
} from 'svc/sdk';

import { assertAddressOfSetting, replacedAddress, typedAddress } from './address-change.ts';
import { type Addresses, shownEndpoint } from './address.ts';
import { type Shown, shownChannel } from './channel.ts';
import { ChannelStore, type ChannelWithState } from '../store/channel-store.ts';
import { checkTemplate } from '../message/channel-template.ts';
import type { ChannelTypeRegistry } from '../types/channel-types.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import { DeliveryStore } from '../store/delivery-store.ts';
import { Backlog } from './backlog.ts';
import { errors } from './errors.ts';
import type { Draft } from './schema.ts';
import { addressOfSetting } from './settings-channels.ts';
import type { NotifyTables } from '../store/tables.ts';

/** The call that changes a channel: where the change is noted, and its precondition. */
export type ChangeCall = Pick<Call, 'note' | 'requireMatch'>;

export interface ChannelsParts {
  readonly tables: Tables<NotifyTables>;
  readonly queue: DeliveryQueue;
  readonly types: ChannelTypeRegistry;
  readonly addresses: Addresses;
  readonly settings: Pick<Settings, 'get'>;
  readonly source: Handle<NoticeSource>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called after a channel got another address. */
  readonly addressChanged?: (id: number) => void;
  /** Accepts notices for a channel that an earlier one of its name was never sent. */
  readonly dispatcher: Pick<NoticeDispatcher, 'accept'>;
  readonly maxChannels?: number;
}

/** Channels as the API changes them. */
export class Channels {
  readonly #parts: ChannelsParts;

  constructor(parts: ChannelsParts) {
    this.#parts = parts;
  }

  async list({ limit, after }: PageRequest): Promise<Page<Shown>> {
    const store = new ChannelStore(this.#parts.tables.read);
    const rows = await store.page(limit + 1, after === undefined ? undefined : Number(after[0]));
    const items = rows.slice(0, limit).map((row) => this.#shown(row));
    return {
      items,
      total: await store.count(),
      next: rows.length > limit ? [items.at(-1)!.id] : undefined,
    };
  }

  async get(id: number): Promise<Shown> {
    return this.#shown(await existing(id, new ChannelStore(this.#parts.tables.read)));
  }

  async create(call: ChangeCall, draft: Draft): Promise<Shown> {
    const shown = await this.#insert(call, draft);
    await new Backlog(this.#parts).tell(shown.id, shown.name);
    return shown;
  }

  #insert(call: ChangeCall, draft: Draft): Promise<Shown> {
    const { tables, types, clock, ids, maxChannels = 200 } = this.#parts;
    return tables.write(async (tx) => {
      const store = new ChannelStore(tx);
      const { id: typeId, type } = types.named(draft.channel_type);
      const address = typedAddress(draft, type);
      const name = await freeName(store, draft.name);
      await requireFallback(store, draft);
      if ((await store.count()) >= maxChannels) {
        throw errors.max_channels({ max: maxChannels });
      }
      const ref = ids.uuid();
      const now = clock.now();
      const id = await store.insert({
        ref,
        channel_type: typeId,
        name,
        ...this.#sealed(ref, address, type),
        ...filtersOf(draft),
        created_at: now,
        updated_at: now,
      });
      const after = this.#shown((await store.find(id))!);
      call.note({ resourceId: id, after });
      return after;
    });
  }

  async replace(call: ChangeCall, id: number, draft: Draft): Promise<Shown> {
    const { enabled: wasEnabled } = await this.get(id);
    const shown = await this.#update(call, id, draft);
    if (shown.enabled && !wasEnabled) {
      await new Backlog(this.#parts).tell(id, shown.name);
    }
    return shown;
  }

  #update(call: ChangeCall, id: number, draft: Draft): Promise<Shown> {
    const { tables, queue, types, addresses, clock, addressChanged } = this.#parts;
    return tables.write(async (tx) => {
      const store = new ChannelStore(tx);
      const row = await existing(id, store);
      const before = this.#shown(row);
      call.requireMatch(before);
      const wanted = types.named(draft.channel_type);
      const name = await freeName(store, draft.name, id);
      await requireFallback(store, draft, id);
      if (row.standing !== null) {
        assertAddressOfSetting(row.standing, before, draft, wanted.id);
      }
      const address =
        row.standing === null ? replacedAddress(row, draft, wanted, addresses) : undefined;
      const sealed = address && this.#sealed(row.ref, address, wanted.type);
      await store.update(
        id,
        { name, channel_type: wanted.id, ...sealed, ...filtersOf(draft) },
        clock.now(),
      );
      if (sealed !== undefined) {
        await store.clearFailures(id);
        await new DeliveryStore(tx).hurry({ channel: id }, clock.now());
        addressChanged?.(id);
      }
      await queue.look(tx, id);
      const after = this.#shown((await store.find(id))!);
      call.note({ before, after });
      return after;
    });
  }

  async remove(call: ChangeCall, id: number): Promise<void> {
    const { tables, queue, source, settings } = this.#parts;
    const pinning = source.available ? await source.get().pinning(id) : [];
    await tables.write(async (tx) => {
      const store = new ChannelStore(tx);
      const row = await existing(id, store);
      const before = this.#shown(row);
      call.requireMatch(before);
      if (row.standing !== null && addressOfSetting(settings, row.standing).endpoint !== '') {
        throw errors.channel_of_setting({ name: row.name, setting: row.standing });
      }
      if (pinning.length > 0) {
        throw errors.channel_in_use({
          senders: pinning.length === 1 ? 'a rule sends' : `${pinning.length} rules send`,
          name: row.name,
          rules: firstOf(pinning),
        });
      }
      await store.remove(id);
      await queue.look(tx, id);
      call.note({ before });
    });
  }

  #shown(row: ChannelWithState): Shown {
    return shownChannel(row, this.#parts.types, this.#parts.settings);
  }

  #sealed(ref: string, address: ChannelAddress, type: ChannelType) {
    return {
      ...this.#parts.addresses.seal(ref, address),
      endpoint_shown: shownEndpoint(address.endpoint, type),
    };
  }
}

export async function existing(id: number, store: ChannelStore): Promise<ChannelWithState> {
  const row = await store.find(id);
  if (row === undefined) {
    throw errors.no_channel({ id });
  }
  return row;
}

function filtersOf(draft: Draft) {
  const template = draft.template ?? '';
  if (template !== '') {
    checkTemplate(template);
  }
  return {
    match_severity_min: draft.match_severity_min ?? '',
    match_scope_types: JSON.stringify(draft.match_scope_types ?? []),
    match_labels: JSON.stringify(draft.match_labels ?? {}),
    enabled: draft.enabled === false ? 0 : 1,
    send_resolved: draft.send_resolved === false ? 0 : 1,
    template: template === '' ? null : template,
    group_by: JSON.stringify(draft.group_by ?? ['rule_key']),
    group_wait: milliseconds('group_wait', draft.group_wait ?? '10s', hourMs),
    group_interval: milliseconds('group_interval', draft.group_interval ?? '1m', dayMs),
    repeat_interval: milliseconds('repeat_interval', draft.repeat_interval ?? '4h', 365 * dayMs),
    fallback_channel_id: draft.fallback_channel_id ?? null,
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function milliseconds(field: string, text: string, most: number): number {
  const ms = parseDuration(text);
  if (ms > most) {
    const message = `is at most ${formatDuration(most)}`;
    throw invalid(field, message);
  }
  return ms;
}

async function requireFallback(
  store: ChannelStore,
  { fallback_channel_id: fallback }: Draft,
  ownId?: number,
): Promise<void> {
  if (fallback === undefined || fallback === null) {
    return;
  }
  const message =
    fallback === ownId
      ? 'is this channel itself'
      : (await store.find(fallback)) === undefined
        ? `names no channel: there is none with id ${fallback}`
        : undefined;
  if (message !== undefined) {
    throw invalid('fallback_channel_id', message);
  }
}

async function freeName(store: ChannelStore, given: string, exceptId?: number): Promise<string> {
  const name = given.trim();
  if (name === '') {
    throw invalid('name', 'is empty');
  }
  if (await store.isTaken(name, exceptId)) {
    throw errors.channel_name_taken(
      { name },
      { details: [{ path: '/name', message: 'is taken' }] },
    );
  }
  return name;
}

const invalid = (field: string, message: string): SvcError =>
  errors.invalid_channel({ field, message }, { details: [{ path: `/${field}`, message }] });

const firstOf = (names: readonly string[]): string =>
  names.length > 10
    ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
    : names.join(', ');
