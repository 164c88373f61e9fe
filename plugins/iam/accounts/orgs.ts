import type { Clock, Page, PageRequest, Principal, Tables } from 'svc/sdk';

import type { People } from '../policy/people.ts';
import { MemberStore } from '../store/member-store.ts';
import { defaultOrg, nameKey, OrgStore, type OrgRow } from '../store/org-store.ts';
import type { Iam, IamTables } from '../store/tables.ts';
import { errors } from './errors.ts';
import { shownOrg } from './shown.ts';
import type { Actor } from './users.ts';

export interface OrgDraft {
  readonly name: string;
  readonly description: string;
  readonly parent_id?: number | null;
  readonly device_selector?: string | null;
}

export interface OrgsParts {
  readonly tables: Tables<IamTables>;
  readonly people: People;
  readonly clock: Clock;
  readonly maxOrgs?: number;
}

const defaultMostOrgs = 1_000;

/** Organizations: a forest with unique names and no cycles. */
export class Orgs {
  readonly #parts: OrgsParts;

  constructor(parts: OrgsParts) {
    this.#parts = parts;
  }

  list(actor: Principal, q: string | undefined, page: PageRequest): Promise<Page<OrgRow>> {
    return new OrgStore(this.#parts.tables.read).list(actor, q, page);
  }

  async get(actor: Principal, id: number): Promise<OrgRow> {
    return (await new OrgStore(this.#parts.tables.read).find(actor, id)) ?? missingOrg(id);
  }

  create(
    by: Actor,
    { name: given, description, parent_id = null, device_selector = null }: OrgDraft,
  ): Promise<OrgRow> {
    const { tables, clock, maxOrgs = defaultMostOrgs } = this.#parts;
    return tables.write(async (tx) => {
      const store = new OrgStore(tx);
      const name = given.trim();
      await assertNameFree(tx, name);
      await assertParentExists(tx, by.principal, parent_id);
      if ((await store.count()) >= maxOrgs) {
        throw errors.too_many_orgs({ max: maxOrgs });
      }
      const now = clock.now();
      const org = await store.insert({
        name,
        name_key: nameKey(name),
        description,
        parent_id,
        device_selector: selectorOf(device_selector),
        created_at: now,
        updated_at: now,
      });
      by.note({ resourceId: org.id, after: shownOrg(org) });
      return org;
    });
  }

  async update(
    by: Actor,
    id: number,
    { name: given, description, parent_id, device_selector }: Partial<OrgDraft>,
  ): Promise<OrgRow> {
    const { tables, clock, people } = this.#parts;
    let members: readonly number[] = [];
    const written = tables.write(async (tx) => {
      const store = new OrgStore(tx);
      const before = (await store.find(by.principal, id)) ?? missingOrg(id);
      by.requireMatch(shownOrg(before));
      const name = given?.trim();
      if (name !== undefined) {
        await assertNameFree(tx, name, id);
      }
      if (parent_id !== undefined && parent_id !== null) {
        await assertParentExists(tx, by.principal, parent_id);
        await assertNoCycle(tx, id, parent_id);
      }
      const changes = {
        ...(name !== undefined && { name, name_key: nameKey(name) }),
        ...(description !== undefined && { description }),
        ...(parent_id !== undefined && { parent_id }),
        ...(device_selector !== undefined && { device_selector: selectorOf(device_selector) }),
      };
      const after = await store.update(by.principal, id, changes, clock.now());
      members = device_selector === undefined ? [] : await new MemberStore(tx).idsOf(id);
      by.note({ before: shownOrg(before), after: shownOrg(after) });
      return after;
    });
    try {
      return await written;
    } finally {
      await people.refresh(members);
    }
  }

  /** Deletes an organization; its members only lose this membership. */
  async remove(by: Actor, id: number): Promise<void> {
    const { tables, people } = this.#parts;
    const left = await tables.write(async (tx) => {
      const store = new OrgStore(tx);
      const before = (await store.find(by.principal, id)) ?? missingOrg(id);
      by.requireMatch(shownOrg(before));
      if (id === defaultOrg) {
        throw errors.default_org();
      }
      if (await store.hasChildren(id)) {
        throw errors.has_children({ name: before.name });
      }
      const members = await new MemberStore(tx).removeAll(id);
      if (before.device_selector !== null && members.length > 0) {
        throw errors.narrows_devices({ name: before.name, count: members.length });
      }
      await store.remove(by.principal, id);
      by.note({ before: shownOrg(before) });
      return members;
    });
    await people.refresh(left);
  }
}

/** `*` is for those who cannot type a null. */
const selectorOf = (given: string | null): string | null => (given === '*' ? null : given);

export function missingOrg(id: number): never {
  throw errors.no_org({ id });
}

async function assertNameFree(tx: Iam, name: string, exceptId?: number): Promise<void> {
  if (!(await new OrgStore(tx).isNameFree(name, exceptId))) {
    throw errors.org_taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
  }
}

async function assertParentExists(tx: Iam, actor: Principal, parent: number | null): Promise<void> {
  if (parent !== null && (await new OrgStore(tx).find(actor, parent)) === undefined) {
    missingOrg(parent);
  }
}

async function assertNoCycle(tx: Iam, id: number, parent: number): Promise<void> {
  if ((await new OrgStore(tx).lineOf(parent)).includes(id)) {
    throw errors.below_itself(
      { id },
      {
        details: [{ path: '/parent_id', message: 'is the organization itself or below it' }],
      },
    );
  }
}
