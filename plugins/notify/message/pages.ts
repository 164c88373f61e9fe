import { chartPicture } from 'svc/chart-picture';
import type { NoticeInstances } from 'svc/contracts/notify';
import { byteRoute, type Clock, type RouteDeclaration, type Tables } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { againstThreshold, clockOf, labelsOf } from './briefing.ts';
import type { Knowledge } from './knowledge.ts';
import { digestMessage, incidentMessage, type LinkOf, type Target } from './message.ts';
import { NoticeStore } from '../store/notice-store.ts';
import { type PageLinks, pagePath } from './page-link.ts';
import { type Listed, listPage, messagePage, notePage, pagePolicy } from './page-html.ts';
import type { NotifyTables } from '../store/tables.ts';

export interface PagesParts {
  readonly tables: Tables<NotifyTables>;
  readonly links: PageLinks;
  readonly knowledge: Knowledge;
  readonly linkOf: LinkOf;
  readonly clock: Clock;
}

/** Incidents or instances that one page names; it leads to the next ones. Composed in one go, while others wait. */
const maxListed = 200;

/** Pages that a link in a message opens, for the person who got it. */
export class Pages {
  readonly #parts: PagesParts;

  constructor(parts: PagesParts) {
    this.#parts = parts;
  }

  /** Renders a page as HTML. */
  async show(token: string, from: number): Promise<string> {
    const target = this.#opened(token);
    return 'incident' in target
      ? await this.#incident(target.incident, from)
      : await this.#digest(target.digest, from);
  }

  /** Renders the measurements of the last hour as PNG. */
  async chart(token: string): Promise<Buffer> {
    const target = this.#opened(token);
    const around =
      'incident' in target ? await this.#parts.knowledge.aroundId(target.incident) : undefined;
    const { hour, incident } = around?.background ?? {};
    const picture = hour && chartPicture({ lines: [hour], bound: incident?.threshold });
    if (picture === undefined) {
      throw errors.no_chart();
    }
    return picture;
  }

  #opened(token: string): Target {
    const { links, clock } = this.#parts;
    const opened = links.open(token, clock.now());
    switch (opened.result) {
      case 'forged':
        throw errors.broken_link();
      case 'expired':
        throw errors.link_expired();
      case 'open':
        return opened.target;
    }
  }

  async #incident(id: number, from: number): Promise<string> {
    const around = await this.#parts.knowledge.aroundId(id);
    if (around?.background === undefined) {
      throw errors.incident_unreadable({ id });
    }
    const { incident, hour } = around.background;
    const kind = incident.status === 'resolved' ? 'resolved' : 'firing';
    const message = incidentMessage(
      '',
      { kind, incident },
      { link: '', template: undefined, around },
    );
    const instances = await this.#parts.knowledge.instances(id, { from, limit: maxListed });
    const list =
      instances && instances.total > 1
        ? { items: instances.items.map(itemOf), from, total: instances.total }
        : undefined;
    const act = kind === 'resolved' ? '' : this.#parts.linkOf({ act: id });
    return messagePage(message, {
      ...(hour && { hour }),
      threshold: incident.threshold,
      list,
      act,
    });
  }

  async #digest(delivery: string, from: number): Promise<string> {
    const { tables, knowledge, linkOf, clock } = this.#parts;
    const { notices, counts, group } = await new NoticeStore(tables.read).ofMessage(delivery, {
      from,
      limit: maxListed,
    });
    const total = counts.firing + counts.reminder + counts.resolved;
    if (total === 0 || (from === 0 && notices.length === 0)) {
      throw errors.message_expired();
    }
    const hosts = await knowledge.hosts(notices.map(({ incident }) => incident));
    const now = clock.now();
    const { title } = digestMessage('', { entries: notices, counts, group, hosts, now }, '');
    const items = notices.map(({ kind, incident }) => ({
      text: incidentMessage(
        '',
        { kind, incident },
        {
          link: '',
          template: undefined,
          around: { now, host: hosts.get(incident.device_id ?? '') },
        },
      ).title,
      more: labelsOf(incident.labels),
      link: linkOf({ incident: incident.id }),
    }));
    return listPage(title, { items, from, total });
  }
}

const itemOf = ({ labels, state, value, since }: NoticeInstances['items'][number]): Listed => ({
  text: labelsOf(labels),
  more: `${state}, ${value === undefined ? '' : `${againstThreshold(value, undefined)}, `}since ${clockOf(since)}`,
});

const token = Type.Object({
  token: Type.String({
    maxLength: 300,
    pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
    examples: ['bm8.c2ln'],
  }),
});

export const pageRoutes = (pages: Pages): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'GET',
    path: `${pagePath}/{token}/chart.png`,
    access: 'public',
    summary: "Get the chart in a message: the incident's measurements over the last hour",
    params: token,
    produces: 'image/png',
    errors: ['not_found', 410],
    handle: ({ params }) => pages.chart(params.token),
  }),
  byteRoute({
    method: 'GET',
    path: `${pagePath}/{token}`,
    access: 'public',
    summary:
      'Show the page that a link in a message opens: one incident, or all incidents in the message',
    description: 'Read-only. The token is signed, is valid for one page, and expires after a week.',
    params: token,
    query: Type.Object({
      from: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description: 'Number of entries to skip',
        }),
      ),
    }),
    produces: 'text/html; charset=utf-8',
    errors: ['not_found', 'unavailable', 410],
    wording: ({ message }) => ({
      type: 'text/html; charset=utf-8',
      body: notePage('This page cannot be shown', message),
    }),
    handle({ params, query, setHeader }) {
      setHeader('content-security-policy', pagePolicy);
      return pages.show(params.token, query.from ?? 0);
    },
  }),
];
