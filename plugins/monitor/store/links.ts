import { createHash } from 'node:crypto';

import type { DirectoryContract } from 'svc/contracts/iam';
import {
  type Call,
  covers,
  type Handle,
  type Ids,
  type Page,
  type PageRequest,
  type Principal,
  type Tables,
} from 'svc/sdk';
import type { Asking } from 'svc/query';
import type { Static } from 'typebox';

import { errors } from '../model/errors.ts';
import type { NewLink, SharedDashboard } from '../model/link-schema.ts';
import { areasOf } from '../model/areas.ts';
import { render, type RenderParts } from '../render/render.ts';
import { sharedOf } from '../render/shared.ts';
import type { DashboardService } from './dashboard-service.ts';
import { authorOf, type ChangeCall } from './history.ts';
import { type Link, LinkStore, type Shown } from './link-store.ts';
import type { MonitorTables } from './panel-store.ts';

export interface LinksParts {
  readonly tables: Tables<MonitorTables>;
  readonly dashboards: DashboardService;
  readonly render: RenderParts;
  readonly ids: Pick<Ids, 'token'>;
  readonly people: Handle<Pick<DirectoryContract, 'live'>>;
  /** Returns whether links are allowed at all. */
  readonly allowed: () => boolean;
}

type MakeCall = ChangeCall & Pick<Call, 'requireRead' | 'signal'>;
type Shared = Static<typeof SharedDashboard>;

interface Fresh {
  readonly at: number;
  readonly answer: Promise<Omit<Shared, 'expires_at'>>;
}

const most = 500;
/** However many read along, the stores are asked this seldom. */
const freshMs = 10_000;

/** Links to dashboards for readers without an account: each shows one dashboard, until it ends or is revoked. */
export class Links {
  readonly #parts: LinksParts;
  readonly #fresh = new Map<number, Fresh>();

  constructor(parts: LinksParts) {
    this.#parts = parts;
  }

  list(uid: string | undefined, page: PageRequest): Promise<Page<Link>> {
    const { tables, render: parts } = this.#parts;
    return new LinkStore(tables.read).list(uid, parts.clock.now(), page);
  }

  /** Makes a link to a dashboard as it is now; its token is not kept. */
  async make(
    call: MakeCall,
    uid: string,
    { expires_in_s: expires, range_s: rangeS, note = '', variables = {} }: Static<typeof NewLink>,
    asking: Asking,
  ): Promise<Link & { readonly token: string }> {
    const { tables, dashboards, ids, render: parts, allowed } = this.#parts;
    if (!allowed()) {
      throw errors.links_off();
    }
    const { origin: _, ...dashboard } = await dashboards.get(uid);
    const shown: Shown = { dashboard, chosen: new Map(Object.entries(variables)) };
    const { requireRead, signal } = call;
    // A panel answers with its error, so what the maker may not read is refused before it is asked.
    for (const area of areasOf(dashboard)) {
      requireRead(area);
    }
    // What cannot be chosen is refused here.
    await render(dashboard, { ...askedOf(shown, rangeS), asking, requireRead, signal }, parts);
    const token = ids.token(32);
    const now = parts.clock.now();
    const link = await tables.write(async (tx) => {
      const store = new LinkStore(tx);
      await store.removeExpired(now);
      if ((await store.count()) >= most) {
        throw errors.too_many_links({ max: most });
      }
      const made = await store.add(
        {
          dashboardUid: uid,
          note,
          rangeS,
          madeBy: authorOf(call),
          makerId: accountOf(call.principal),
          madeAt: now,
          expiresAt: now + expires * 1_000,
        },
        shown,
        digestOf(token),
      );
      call.note({
        resourceType: 'dashboard link',
        resourceId: made.id,
        after: { dashboard_uid: uid, note, expires_in_s: expires, range_s: rangeS, variables },
      });
      return made;
    });
    return { ...link, token };
  }

  async revoke(call: ChangeCall, id: number): Promise<void> {
    await this.#parts.tables.write(async (tx) => {
      const store = new LinkStore(tx);
      const link = await store.find(id);
      if (link === undefined) {
        throw errors.no_link({ id });
      }
      await store.remove(id);
      const { dashboardUid, note } = link;
      call.note({
        resourceType: 'dashboard link',
        resourceId: id,
        before: { dashboard_uid: dashboardUid, note },
      });
    });
    this.#fresh.delete(id);
  }

  /** Returns what the link of a token shows; nothing tells an unknown link from one that has ended. */
  async open(token: string): Promise<Shared> {
    const { tables, render: parts, allowed } = this.#parts;
    const now = parts.clock.now();
    const link = await new LinkStore(tables.read).byDigest(digestOf(token));
    if (link === undefined || link.expiresAt <= now || !allowed() || !this.#mayShare(link)) {
      throw errors.link_ended();
    }
    let fresh = this.#fresh.get(link.id);
    if (fresh === undefined || now - fresh.at >= freshMs) {
      fresh = { at: now, answer: this.#render(link, now) };
      this.#keep(link.id, fresh);
    }
    return { ...(await fresh.answer), expires_at: new Date(link.expiresAt).toISOString() };
  }

  /** Returns whether its maker could still make it: who may not read a dashboard does not read it by a link of before. */
  #mayShare({ makerId }: Link): boolean {
    if (makerId === null) {
      return true;
    }
    const maker = this.#parts.people.get().live(makerId);
    return (
      maker?.status === 'active' &&
      maker.selectors === undefined &&
      maker.grants.some((grant) => covers(grant, 'monitor:share'))
    );
  }

  #keep(id: number, fresh: Fresh): void {
    this.#fresh.delete(id);
    this.#fresh.set(id, fresh);
    if (this.#fresh.size > most) {
      this.#fresh.delete(this.#fresh.keys().next().value!);
    }
    fresh.answer.catch(() => this.#fresh.delete(id));
  }

  async #render(link: Link & Shown, now: number): Promise<Omit<Shared, 'expires_at'>> {
    const { tables, render: parts } = this.#parts;
    await tables.write((tx) => new LinkStore(tx).opened(link.id, now));
    return sharedOf(
      await render(
        link.dashboard,
        {
          ...askedOf(link, link.rangeS),
          asking: { asker: `link ${link.id}` },
          requireRead: () => undefined,
          // It is for all readers, whoever leaves.
          signal: parts.scope.signal,
        },
        parts,
      ),
    );
  }
}

const accountOf = ({ kind, id }: Principal): number | null =>
  kind === 'user' || kind === 'token' ? Number(id) : null;

const askedOf = ({ chosen }: Shown, rangeS: number) => ({
  window: { from: `now-${rangeS}s`, to: 'now', step: undefined },
  given: chosen,
  rows: 'all',
});

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
