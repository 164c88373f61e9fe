import type { AuditEntries, AuditEntry } from 'svc/contracts/audit';
import type { ChangeDraft, ChangeKind } from 'svc/contracts/changes';
import { type Handle, type Logger, messageOf } from 'svc/sdk';

import type { Feed } from './feed.ts';

const atOnce = 200;
const place = 'audit';

/** Areas whose changes can be the cause of trouble; what people do with incidents, chats and sessions is not. */
const areas =
  /^(?:agent|alert|alert-rule|channel|notification-channel|dashboard|device|edge|monitor|pack|packs|plugin|recording|setting|skill|topology)s?\b/;
const notOf = new Set(['incident', 'silence', 'change']);
/** Verbs for actions. */
const made: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
};
/** Fields that svc itself keeps; they differ with each change, and nobody has set them. */
const keptBySvc = new Set(['updated_at', 'last_seen_at']);
const harmless = /:(?:reveal|test|preview)$/;

/**
 * Follows the audit trail by row number, from the last position: changes made while svc or this
 * plugin was down appear later, once.
 */
export class AuditChanges {
  readonly #entries: Handle<AuditEntries>;
  readonly #feed: Feed;
  readonly #log: Logger;
  #reading: Promise<void> | undefined;
  #again = false;

  constructor({
    entries,
    feed,
    log,
  }: {
    readonly entries: Handle<AuditEntries>;
    readonly feed: Feed;
    readonly log: Logger;
  }) {
    this.#entries = entries;
    this.#feed = feed;
    this.#log = log;
  }

  /** Reads what is new; calls that arrive meanwhile share one more look. */
  async catchUp(): Promise<void> {
    this.#again = true;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    while (this.#again && this.#entries.available) {
      this.#again = false;
      try {
        await this.#readOn();
      } catch (error) {
        this.#log.warn(
          { event: 'changes.audit_unread', cause: messageOf(error) },
          'failed to read changes from the audit log; retrying with the next entry',
        );
      }
    }
  }

  async #readOn(): Promise<void> {
    const known = (await this.#feed.seen(place)).get(place);
    // Changes from before this plugin was installed are in the trail, and no news.
    let last = known === undefined ? await this.#entries.get().last() : Number(known);
    if (known === undefined) {
      await this.#feed.put([], new Map([[place, String(last)]]));
    }
    for (;;) {
      const { entries, last: read } = await this.#entries.get().after(last, atOnce);
      if (read === last) {
        return;
      }
      await this.#feed.put(entries.flatMap(changeOf), new Map([[place, String(read)]]));
      last = read;
    }
  }
}

function changeOf(entry: AuditEntry): readonly ChangeDraft[] {
  const { seq, at, action, resource_type: type, resource_id: id, actor } = entry;
  const fields = entry.fields.filter((field) => !keptBySvc.has(field));
  if (!areas.test(action) || notOf.has(type) || harmless.test(action)) {
    return [];
  }
  const what = `${type} ${id ?? ''}`.trim();
  const verb = action.slice(action.lastIndexOf(':') + 1);
  const done = Object.hasOwn(made, verb) ? `${what} ${made[verb]}` : `${action} of ${what}`;
  // All fields of a new thing are new.
  const named =
    fields.length === 0 || verb === 'create'
      ? ''
      : `: ${fields.slice(0, 8).join(', ')}${fields.length > 8 ? ' …' : ''}`;
  return [
    {
      ref: `audit:${seq}`,
      at,
      kind: kindOf(action, type),
      source: 'audit',
      actor: actor.name,
      summary: `${done} by ${actor.name}${named}`,
      ...(type === 'device' && id !== null && { device_id: id }),
      ...(type === 'edge' && id !== null && { edge_id: id }),
      labels: { action },
    },
  ];
}

function kindOf(action: string, type: string): ChangeKind {
  if (/upgrade/.test(action)) {
    return 'upgrade';
  }
  if (/^(?:alert|recording)/.test(action) || /rule/.test(type)) {
    return 'rule';
  }
  const area = action.slice(0, action.indexOf(':'));
  return area.startsWith('setting')
    ? 'setting'
    : area.startsWith('plugin') || area.startsWith('pack')
      ? 'plugin'
      : area === 'topology'
        ? 'topology'
        : 'config';
}
