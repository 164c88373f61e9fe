import { type Clock, type Handle, type Ids, type Page, type PageRequest, type Settings, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { type Addresses, mask, shownEndpoint } from './address.ts';
import { checkTemplate } from './channel-template.ts';
import type { Kinds } from './channel-types.ts';
import { channelStore, type ChannelWithState } from './channel-store.ts';
import type { ChannelAddress, ChannelType, NoticeSource } from './contract.ts';
import type { ChannelDraft } from './schema.ts';
import { type Shown, shownChannel } from './shown.ts';
import { standingOf } from './standing.ts';
import type { NotifyTables } from './tables.ts';
import { wrongEndpoint, wrongSecret } from './types/hook-address.ts';

export type Draft = Static<typeof ChannelDraft>;

/** Who changes something, and where it is noted. */
export interface By {
  note(note: { readonly resourceId?: number; readonly before?: unknown; readonly after?: unknown }): void;
  requireMatch(resource: { readonly updated_at: string }): void;
}

export interface Channels {
  list(page: PageRequest): Promise<Page<Shown>>;
  get(id: number): Promise<Shown>;
  create(by: By, draft: Draft): Promise<Shown>;
  replace(by: By, id: number, draft: Draft): Promise<Shown>;
  remove(by: By, id: number): Promise<void>;
}

export interface ChannelsParts {
  readonly tables: Tables<NotifyTables>;
  readonly kinds: Kinds;
  readonly addresses: Addresses;
  readonly settings: Pick<Settings, 'get'>;
  readonly source: Handle<NoticeSource>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The address of a channel is another one. */
  readonly moved?: (id: number) => void;
  readonly mostChannels?: number;
}

export function createChannels({ tables, kinds, addresses, settings, source, clock, ids, moved, mostChannels = 200 }: ChannelsParts): Channels {
  const shown = (row: ChannelWithState): Shown => shownChannel(row, kinds, settings);

  return {
    async list({ limit, after }) {
      const store = channelStore(tables.read);
      const rows = await store.page(limit + 1, after === undefined ? undefined : Number(after[0]));
      const items = rows.slice(0, limit).map(shown);
      return { items, total: await store.count(), next: rows.length > limit ? [items.at(-1)!.id] : undefined };
    },

    get: async (id) => shown(await found(id, tables.read)),

    create: (by, draft) =>
      tables.write(async (tx) => {
        const store = channelStore(tx);
        const { id: type, type: kind } = kinds.named(draft.channel_type);
        const address = typedAddress(draft, kind);
        const name = await freeName(store, draft.name);
        if ((await store.count()) >= mostChannels) {
          throw new SvcError('conflict', `there are ${mostChannels} channels already, which is the most; delete one that is not needed`);
        }
        const ref = ids.uuid();
        const now = clock.now();
        const id = await store.insert({
          ...{ ref, channel_type: type, ...name, ...addresses.seal(ref, address), endpoint_shown: shownEndpoint(address.endpoint, kind) },
          ...{ ...filtersOf(draft), created_at: now, updated_at: now },
        });
        const after = shown((await store.find(id))!);
        by.note({ resourceId: id, after });
        return after;
      }),

    replace: (by, id, draft) =>
      tables.write(async (tx) => {
        const store = channelStore(tx);
        const row = await found(id, tx);
        const before = shown(row);
        by.requireMatch(before);
        const { id: type, type: kind } = kinds.named(draft.channel_type);
        const name = await freeName(store, draft.name, id);
        const change = row.standing === null ? newAddress(row, draft, type, kind) : keptAddress(row.standing, before, draft, type);
        const sealed = change && { ...addresses.seal(row.ref, change), endpoint_shown: shownEndpoint(change.endpoint, kind) };
        await store.update(id, { ...name, channel_type: type, ...sealed, ...filtersOf(draft) }, clock.now());
        if (sealed !== undefined) {
          await store.forgetTrouble(id);
          moved?.(id);
        }
        const after = shown((await store.find(id))!);
        by.note({ before, after });
        return after;
      }),

    async remove(by, id) {
      const pinning = source.available ? await source.get().pinning(id) : [];
      await tables.write(async (tx) => {
        const row = await found(id, tx);
        const before = shown(row);
        by.requireMatch(before);
        if (row.standing !== null && standingOf(settings, row.standing).endpoint !== '') {
          throw new SvcError('conflict', `the setting ${row.standing} brings the channel ${row.name}; empty that, and then delete the channel, or disable it`);
        }
        if (pinning.length > 0) {
          throw new SvcError(
            'conflict',
            `${pinning.length === 1 ? 'a rule sends' : `${pinning.length} rules send`} to ${row.name}: ${someOf(pinning)}; take the channel out of them first`,
          );
        }
        await channelStore(tx).remove(id);
        by.note({ before });
      });
    },
  };

  async function found(id: number, db: typeof tables.read): Promise<ChannelWithState> {
    const row = await channelStore(db).find(id);
    if (row === undefined) {
      throw new SvcError('not_found', `there is no notification channel ${id}`);
    }
    return row;
  }

  /** What was shown masked stays; but no secret goes to an address that somebody else has typed. */
  function newAddress(row: ChannelWithState, draft: Draft, type: string, kind: ChannelType): ChannelAddress | undefined {
    const sameEndpoint = draft.endpoint === mask || draft.endpoint === row.endpoint_shown;
    const sameSecret = draft.secret === undefined || draft.secret === mask;
    if (sameEndpoint && type === row.channel_type && (sameSecret || (draft.secret === null && row.secret === null))) {
      return undefined;
    }
    // What is stored is only opened when it is needed: it may be what no key opens any more.
    const none = sameSecret && row.secret === null;
    if (type !== row.channel_type || (!sameEndpoint && (none || !sameSecret))) {
      return typedAddress(none && draft.secret === mask ? { ...draft, secret: null } : draft, kind);
    }
    const known = addresses.open(row);
    const endpoint = sameEndpoint ? known.endpoint : draft.endpoint;
    if (sameSecret && known.secret !== '' && endpoint !== known.endpoint) {
      throw wrongSecret('must be entered again when the endpoint changes, so that it reaches nobody it was not meant for');
    }
    return typedAddress({ ...draft, endpoint, secret: sameSecret ? known.secret : (draft.secret ?? null) }, kind);
  }

  function keptAddress(setting: string, before: Shown, draft: Draft, type: string): undefined {
    const same =
      type === before.channel_type &&
      (draft.endpoint === mask || draft.endpoint === before.endpoint) &&
      (draft.secret === undefined || draft.secret === before.secret || draft.secret === mask);
    if (!same) {
      throw new SvcError('conflict', `type and address of this channel come from the setting ${setting}; change them there`);
    }
    return undefined;
  }
}

/** An address without a mask in it, fit for its kind. */
function typedAddress({ endpoint: given, secret: key }: Pick<Draft, 'endpoint' | 'secret'>, kind: ChannelType): ChannelAddress {
  const address = { endpoint: given.trim(), secret: key ?? '' };
  if (address.endpoint.includes(mask)) {
    throw wrongEndpoint(`is masked; enter it as a whole`);
  }
  if (address.secret.includes(mask)) {
    throw wrongSecret('is masked; enter it as a whole');
  }
  if (kind.secret === 'none' && address.secret !== '') {
    throw wrongSecret(`is nothing that a channel of ${kind.title} takes`);
  }
  if (kind.secret === 'required' && address.secret === '') {
    throw wrongSecret(`is needed for a channel of ${kind.title}`);
  }
  kind.check(address);
  return address;
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
  };
}

async function freeName(store: ReturnType<typeof channelStore>, given: string, but?: number): Promise<{ name: string; name_key: string }> {
  const name = given.trim();
  const key = nameKey(name);
  if (name === '') {
    throw new SvcError('invalid_argument', 'name is empty', { details: [{ path: '/name', message: 'is empty' }] });
  }
  if (await store.isTaken(key, but)) {
    throw new SvcError('conflict', `there is a channel ${name} already`, { details: [{ path: '/name', message: 'is taken' }] });
  }
  return { name, name_key: key };
}

export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

const someOf = (names: readonly string[]): string => (names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', '));
