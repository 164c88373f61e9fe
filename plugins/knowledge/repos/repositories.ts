import type { Kysely } from 'kysely';
import {
  type Call,
  type Clock,
  type Ids,
  type Page,
  type PageRequest,
  type Principal,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { docPath } from '../documents/doc-path.ts';
import { actorOf } from '../documents/library.ts';
import type { KnowledgeTables, RepoRow } from '../documents/tables.ts';
import { errors as identitiesErrors } from '../identities/errors.ts';
import { IdentityStore } from '../identities/identity-store.ts';
import { errors } from './errors.ts';
import { passwordPlace } from './remote.ts';
import { parseRepoUrl, type RepoAddress } from './repo-address.ts';
import type { RepoDocs } from './repo-docs.ts';
import { type NewRepo, RepoStore } from './repo-store.ts';
import type { SyncProgress, SyncResult } from './repo-sync.ts';
import { parseSiteUrl } from './site-address.ts';
import type { SyncQueue } from './sync-queue.ts';

type ChangeCall = Pick<Call, 'principal' | 'note'>;

export interface RepositoriesParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly secrets: Secrets;
  readonly queue: SyncQueue;
  readonly docs: RepoDocs;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface RepoDraft {
  /** Default: git. */
  readonly kind?: 'git' | 'website' | undefined;
  readonly url: string;
  readonly branch?: string | undefined;
  readonly path_prefix?: string | undefined;
  readonly mount?: string | undefined;
  readonly org_id?: number | undefined;
  readonly ssh_identity_id?: number | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly sync_interval?: number | undefined;
}

/** Change of a repository; where its documents are, and who reads them, stays. */
export type RepoChange = Partial<Omit<RepoDraft, 'kind' | 'mount' | 'org_id'>>;

export type ShownRepo = ReturnType<typeof shown>;

const hourSeconds = 3_600;

/** Git repositories and websites whose documents are read here: what people do with them. */
export class Repositories {
  readonly #parts: RepositoriesParts;
  readonly #rows: RepoStore;

  constructor(parts: RepositoriesParts) {
    this.#parts = parts;
    this.#rows = new RepoStore(parts.tables.read);
  }

  async list({
    principal,
    page,
  }: {
    readonly principal: Principal;
    readonly page: PageRequest;
  }): Promise<Page<ShownRepo>> {
    const { items, ...rest } = await this.#rows.page(principal, page);
    const counts = await this.#rows.counts(items.map(({ id }) => id));
    return {
      ...rest,
      items: items.map((row) =>
        shown(row, counts.get(row.id) ?? 0, this.#parts.queue.progressOf(row.id)),
      ),
    };
  }

  async add(call: ChangeCall, draft: RepoDraft): Promise<ShownRepo> {
    const { clock, ids, secrets, queue, tables } = this.#parts;
    const kind = draft.kind ?? 'git';
    const place = kind === 'website' ? siteOf(draft) : repositoryOf(draft);
    const org = draft.org_id ?? null;
    refuseForeignOrg(call.principal, org);
    const ref = ids.uuid();
    const row: NewRepo = {
      ref,
      kind,
      url: place.url,
      branch: draft.branch ?? '',
      org_id: org,
      ssh_identity_id: draft.ssh_identity_id ?? null,
      username: draft.username ?? '',
      path_prefix: draft.path_prefix === undefined ? '' : docPath(draft.path_prefix),
      mount: docPath(draft.mount ?? place.mount),
      password:
        draft.password === undefined ? null : secrets.seal(passwordPlace(ref), draft.password),
      sync_interval: draft.sync_interval ?? hourSeconds,
      status: 'never_synced',
      last_synced_at: null,
      last_tried_at: null,
      last_commit: null,
      last_error: null,
      last_error_code: null,
      last_result: null,
      due_at: null,
      created_by: actorOf(call.principal),
      created_at: Math.ceil(clock.now()),
    };
    const made = await tables.write(async (tx) => {
      const store = new RepoStore(tx);
      await assertMountFree(store, row);
      await assertIdentity(tx, row.ssh_identity_id);
      const inserted = await store.insert(row);
      call.note({ resourceType: 'repository', resourceId: inserted.id, after: noted(inserted) });
      return inserted;
    });
    await queue.start(made.id);
    return await this.#shown(made.id, call.principal);
  }

  /** Changes what is read, how often and with which credentials; a sync follows at once. */
  async change(call: ChangeCall, id: number, change: RepoChange): Promise<ShownRepo> {
    const before = await this.#required(id, call.principal);
    const { secrets, queue, tables } = this.#parts;
    const columns =
      before.kind === 'website'
        ? changedSite(before, change)
        : changed(before, parseRepoUrl(change.url ?? before.url), change, secrets);
    const after = { ...before, ...columns };
    await tables.write(async (tx) => {
      await assertIdentity(tx, after.ssh_identity_id);
      call.note({
        resourceType: 'repository',
        resourceId: id,
        before: noted(before),
        after: { ...noted(after), ...(change.password !== undefined && { password: 'replaced' }) },
      });
      await new RepoStore(tx).update(id, columns);
    });
    await queue.start(id);
    return await this.#shown(id, call.principal);
  }

  async sync(call: ChangeCall, id: number): Promise<ShownRepo> {
    const { url } = await this.#required(id, call.principal);
    call.note({ resourceType: 'repository', resourceId: id, after: { url } });
    await this.#parts.queue.start(id);
    return await this.#shown(id, call.principal);
  }

  /**
   * Deletes a repository with its documents; an interrupted deletion leaves fewer of them, and is
   * repeated.
   */
  async remove(call: ChangeCall, id: number): Promise<void> {
    const row = await this.#required(id, call.principal);
    const { queue, docs, tables } = this.#parts;
    await queue.stop(id);
    const documents = await docs.removeAll(id);
    await queue.forget(row);
    await tables.write(async (tx) => {
      call.note({
        resourceType: 'repository',
        resourceId: id,
        before: { ...noted(row), documents },
      });
      await new RepoStore(tx).remove(id);
    });
  }

  async #required(id: number, principal: Principal): Promise<RepoRow> {
    const row = await this.#rows.find(id, principal);
    if (row === undefined) {
      throw errors.no_repository({ id });
    }
    return row;
  }

  async #shown(id: number, principal: Principal): Promise<ShownRepo> {
    const row = await this.#required(id, principal);
    return shown(
      row,
      (await this.#rows.counts([id])).get(id) ?? 0,
      this.#parts.queue.progressOf(id),
    );
  }
}

const nameIn = ({ url }: RepoAddress): string =>
  url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split(/[/:]/)
    .at(-1)!
    .replace(/[^\p{L}\p{N}._-]/gu, '-');

/** Returns the address of a repository, and the folder that its documents usually have. */
function repositoryOf(draft: RepoDraft): { readonly url: string; readonly mount: string } {
  const address = parseRepoUrl(draft.url);
  refuseMixedCredentials(address, draft);
  return { url: address.url, mount: `repos/${nameIn(address)}` };
}

function siteOf(draft: RepoDraft): { readonly url: string; readonly mount: string } {
  refuseRepoFields(draft);
  const { href, host } = parseSiteUrl(draft.url);
  return { url: href, mount: `sites/${host.replace(/[^\p{L}\p{N}._-]/gu, '-')}` };
}

function changedSite(before: RepoRow, change: RepoChange): Partial<RepoRow> {
  refuseRepoFields(change);
  return {
    url: parseSiteUrl(change.url ?? before.url).href,
    ...(change.sync_interval !== undefined && { sync_interval: change.sync_interval }),
  };
}

function refuseRepoFields({
  branch,
  path_prefix: prefix,
  ssh_identity_id: identity,
  username,
  password,
}: Omit<RepoChange, 'url'>): void {
  if ([branch, prefix, identity, username, password].some((field) => field !== undefined)) {
    throw errors.site_fields();
  }
}

function refuseForeignOrg({ orgs }: Principal, org: number | null): void {
  if (org !== null && orgs !== undefined && !orgs.includes(org)) {
    throw errors.not_a_member({ org });
  }
}

function refuseMixedCredentials(
  { kind }: RepoAddress,
  { ssh_identity_id: identity, username, password }: RepoDraft,
): void {
  if (
    kind === 'ssh' &&
    (identity === undefined || password !== undefined || username !== undefined)
  ) {
    throw errors.ssh_credentials({
      details: [{ path: '/ssh_identity_id', message: 'is needed for SSH' }],
    });
  }
  if (
    kind === 'https' &&
    (identity !== undefined || (username === undefined) !== (password === undefined))
  ) {
    throw errors.https_credentials({
      details: [{ path: '/password', message: 'goes together with username' }],
    });
  }
}

/** Returns the columns that a change sets; credentials of the other kind go when the address changes its kind. */
function changed(
  before: RepoRow,
  address: RepoAddress,
  change: RepoChange,
  secrets: Secrets,
): Partial<RepoRow> {
  const isSsh = address.kind === 'ssh';
  const given = {
    ssh_identity_id:
      change.ssh_identity_id ?? (isSsh ? (before.ssh_identity_id ?? undefined) : undefined),
    username: change.username ?? (isSsh || before.username === '' ? undefined : before.username),
    // A password stays with the server that it was given for.
    keepsPassword:
      !isSsh &&
      change.password === undefined &&
      before.password !== null &&
      parseRepoUrl(before.url).host === address.host,
  };
  refuseMixedCredentials(address, {
    url: address.url,
    ssh_identity_id: given.ssh_identity_id,
    username: given.username,
    password: change.password ?? (given.keepsPassword ? 'kept' : undefined),
  });
  return {
    url: address.url,
    ...(change.branch !== undefined && { branch: change.branch }),
    ...(change.path_prefix !== undefined && {
      path_prefix: change.path_prefix === '' ? '' : docPath(change.path_prefix),
    }),
    ...(change.sync_interval !== undefined && { sync_interval: change.sync_interval }),
    ssh_identity_id: given.ssh_identity_id ?? null,
    username: given.username ?? '',
    password:
      change.password === undefined
        ? given.keepsPassword
          ? before.password
          : null
        : secrets.seal(passwordPlace(before.ref), change.password),
  };
}

async function assertIdentity(tx: Kysely<KnowledgeTables>, id: number | null): Promise<void> {
  if (id !== null && (await new IdentityStore(tx).find(id)) === undefined) {
    throw identitiesErrors.no_ssh_identity({ id });
  }
}

async function assertMountFree(store: RepoStore, { org_id: org, mount }: NewRepo): Promise<void> {
  if (mount === 'vault' || mount.startsWith('vault/')) {
    throw errors.vault_mount({ details: [{ path: '/mount', message: 'is taken' }] });
  }
  const holder = (await store.mounts(org)).find(
    (other) =>
      `${other.mount}/`.startsWith(`${mount}/`) || `${mount}/`.startsWith(`${other.mount}/`),
  );
  if (holder !== undefined) {
    throw errors.mount_taken({ id: holder.id, mount: holder.mount });
  }
}

const noted = ({
  kind,
  url,
  branch,
  path_prefix,
  mount,
  org_id,
  ssh_identity_id,
  sync_interval,
}: RepoRow) => ({
  kind,
  url,
  branch,
  path_prefix,
  mount,
  org_id,
  ssh_identity_id,
  sync_interval,
});

const orNull = (at: number | null): string | null => (at === null ? null : timestamp(at));

const shown = (row: RepoRow, documents: number, progress: SyncProgress | undefined) => ({
  id: row.id,
  kind: row.kind,
  url: row.url,
  branch: row.branch,
  path_prefix: row.path_prefix,
  mount: row.mount,
  org_id: row.org_id,
  ssh_identity_id: row.ssh_identity_id,
  username: row.username,
  has_password: row.password !== null,
  sync_interval: row.sync_interval,
  status: row.status,
  last_commit: row.last_commit,
  last_error: row.last_error,
  last_error_code: row.last_error_code,
  doc_count: documents,
  last_synced_at: orNull(row.last_synced_at),
  last_tried_at: orNull(row.last_tried_at),
  next_sync_at: orNull(row.due_at),
  progress: progress ?? null,
  last_result: row.last_result === null ? null : (JSON.parse(row.last_result) as SyncResult),
  created_by: row.created_by,
  created_at: timestamp(row.created_at),
});
