import {
  type Call,
  type Clock,
  type Ids,
  isSvcError,
  type Page,
  type PageRequest,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { actorOf } from '../documents/library.ts';
import type { HostKeyRow, IdentityRow, KnowledgeTables } from '../documents/tables.ts';
import { errors } from './errors.ts';
import { IdentityStore } from './identity-store.ts';
import type { KeyProgram } from './key-program.ts';
import { fingerprintOf, makeKey, readPlainKey, type SshKey } from './openssh-key.ts';

type ChangeCall = Pick<Call, 'principal' | 'note'>;

export interface IdentityParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keyProgram: Pick<KeyProgram, 'read'>;
}

export interface IdentityDraft {
  readonly name: string;
  readonly comment?: string | undefined;
}

export interface IdentityRegistration extends IdentityDraft {
  readonly private_key: string;
  readonly passphrase?: string | undefined;
}

export interface IdentityChange extends Partial<IdentityDraft> {
  /** Hosts whose keys are deleted: the next one that they present is trusted. */
  readonly forget_hosts?: readonly string[] | undefined;
}

export type ShownIdentity = ReturnType<typeof shown>;

const placeOf = (ref: string) => ({
  table: 'knowledge_identities',
  row: ref,
  column: 'private_key',
});

/** SSH keys for Git: what people do with them, and the one place where a private half is opened. */
export class Identities {
  readonly #parts: IdentityParts;
  readonly #rows: IdentityStore;

  constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.#rows = new IdentityStore(parts.tables.read);
  }

  async list(page: PageRequest): Promise<Page<ShownIdentity>> {
    const { items, ...rest } = await this.#rows.page(page);
    const hosts = await this.#rows.hosts(items.map(({ id }) => id));
    return { ...rest, items: items.map((item) => shown(item, hosts)) };
  }

  generate(call: ChangeCall, draft: IdentityDraft): Promise<ShownIdentity> {
    return this.#keep(call, draft, makeKey(draft.comment ?? draft.name));
  }

  async register(
    call: ChangeCall,
    { private_key: pasted, passphrase = '', ...draft }: IdentityRegistration,
  ): Promise<ShownIdentity> {
    const key =
      readPlainKey(pasted, draft.comment ?? draft.name) ??
      (await this.#parts.keyProgram.read(pasted, passphrase));
    return await this.#keep(call, draft, key);
  }

  async change(
    call: ChangeCall,
    id: number,
    { forget_hosts: forget = [], ...names }: IdentityChange,
  ): Promise<ShownIdentity> {
    return await this.#parts.tables.write(async (tx) => {
      const store = new IdentityStore(tx);
      const before = await required(store, id);
      const hosts = await store.hosts([id]);
      const unknown = forget.find((host) => !hosts.some((key) => key.host === host));
      if (unknown !== undefined) {
        throw errors.no_host_key({ name: before.name, unknown });
      }
      const next = { name: names.name ?? before.name, comment: names.comment ?? before.comment };
      await assertFree(store, { name: next.name, fingerprint: '' }, id);
      if (forget.length > 0) {
        await store.forgetHosts(id, forget);
      }
      const after = await store.update(id, {
        ...next,
        updated_at: Math.ceil(this.#parts.clock.now()),
      });
      call.note({
        resourceType: 'ssh identity',
        resourceId: id,
        before: { name: before.name, comment: before.comment },
        after: { ...next, ...(forget.length > 0 && { forgotten: forget }) },
      });
      return shown(after, await store.hosts([id]));
    });
  }

  async remove(call: ChangeCall, id: number): Promise<void> {
    await this.#parts.tables.write(async (tx) => {
      const store = new IdentityStore(tx);
      const { name, fingerprint } = await required(store, id);
      const users = await store.users(id);
      if (users.length > 0) {
        throw errors.identity_in_use({ name, url: users[0]!.url });
      }
      call.note({ resourceType: 'ssh identity', resourceId: id, before: { name, fingerprint } });
      await store.remove(id);
    });
  }

  /** Returns the text of its key file, and what is known of a server. */
  async open(
    id: number,
    host: string,
  ): Promise<{ readonly privateKey: string; readonly known: readonly HostKeyRow[] }> {
    const row = await required(this.#rows, id);
    try {
      return {
        privateKey: this.#parts.secrets.open(placeOf(row.ref), row.private_key),
        known: (await this.#rows.hosts([id])).filter((key) => key.host === host),
      };
    } catch (error) {
      throw isSvcError(error) ? errors.private_key({ name: row.name }, { cause: error }) : error;
    }
  }

  /** Records that the identity was presented to a server, which presented these keys. */
  async used(
    id: number,
    host: string,
    keys: readonly { readonly algorithm: string; readonly key: string }[],
  ): Promise<void> {
    const now = Math.ceil(this.#parts.clock.now());
    await this.#parts.tables.write(async (tx) => {
      const store = new IdentityStore(tx);
      if ((await store.find(id)) === undefined) {
        return;
      }
      for (const { algorithm, key } of keys) {
        await store.pin({
          identity_id: id,
          host,
          algorithm,
          key,
          fingerprint: fingerprintOf(Buffer.from(key, 'base64')),
          pinned_at: now,
        });
      }
      await store.update(id, { last_used_at: now });
    });
  }

  #keep(call: ChangeCall, { name, comment }: IdentityDraft, key: SshKey): Promise<ShownIdentity> {
    const { clock, ids, secrets, tables } = this.#parts;
    const [ref, now] = [ids.uuid(), Math.ceil(clock.now())];
    return tables.write(async (tx) => {
      const store = new IdentityStore(tx);
      await assertFree(store, { name, fingerprint: key.fingerprint });
      const made = await store.insert({
        ref,
        name,
        comment: comment ?? '',
        public_key: key.publicKey,
        fingerprint: key.fingerprint,
        created_at: now,
        updated_at: now,
        private_key: secrets.seal(placeOf(ref), key.privateKey),
        created_by: actorOf(call.principal),
      });
      call.note({
        resourceType: 'ssh identity',
        resourceId: made.id,
        after: { name, fingerprint: key.fingerprint },
      });
      return shown(made, []);
    });
  }
}

async function required(store: IdentityStore, id: number): Promise<IdentityRow> {
  const found = await store.find(id);
  if (found === undefined) {
    throw errors.no_ssh_identity({ id });
  }
  return found;
}

async function assertFree(
  store: IdentityStore,
  wanted: Pick<IdentityRow, 'name' | 'fingerprint'>,
  but?: number,
): Promise<void> {
  const holder = await store.holder(wanted, but);
  if (holder !== undefined) {
    const what =
      holder.fingerprint === wanted.fingerprint
        ? `this key is already known, as ${holder.name}`
        : `an SSH identity named ${holder.name} already exists`;
    throw errors.identity_taken({ what, id: holder.id });
  }
}

const shown = (
  { id, name, comment, public_key, fingerprint, created_by, created_at, last_used_at }: IdentityRow,
  hosts: readonly HostKeyRow[],
) => ({
  id,
  name,
  comment,
  fingerprint,
  created_by,
  public_key: `${public_key} ${comment === '' ? name : comment}`,
  hosts: hosts
    .filter((key) => key.identity_id === id)
    .map(({ host, algorithm, fingerprint: shownKey, pinned_at }) => ({
      host,
      algorithm,
      fingerprint: shownKey,
      pinned_at: timestamp(pinned_at),
    })),
  created_at: timestamp(created_at),
  last_used_at: last_used_at === null ? null : timestamp(last_used_at),
});
