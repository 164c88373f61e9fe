import { listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import type { AskingOf } from 'svc/query';

import {
  LinkId,
  LinkItem,
  LinkQuery,
  LinkToken,
  MadeLink,
  NewLink,
  SharedDashboard,
} from '../model/link-schema.ts';
import { DashboardUid } from '../model/schema.ts';
import type { Link } from '../store/link-store.ts';
import type { Links } from '../store/links.ts';

/** Routes for links that show a dashboard without an account, and the one route that such a link opens. */
export const linkRoutes = (links: Links, askingOf: AskingOf): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/monitor/links',
    access: 'monitor:share',
    summary: 'List public links to dashboards that have not ended',
    query: LinkQuery,
    items: LinkItem,
    async handle({ query, page }) {
      const { items, ...rest } = await links.list(query.dashboard_uid, page);
      return { ...rest, items: items.map(shownLink) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/monitor/dashboards/{uid}/links',
    access: 'monitor:share',
    readsAsked: ['metricsdb', 'logs', 'traces'],
    summary: 'Create a public link to a dashboard, with an expiry',
    description:
      'The link shows the dashboard as it is now: its queries, the given values of its variables and one time range. Later changes to the dashboard do not change what the link shows. An API token also needs read:metricsdb, read:logs and read:traces, depending on what the panels and variables query.',
    params: DashboardUid,
    body: NewLink,
    response: MadeLink,
    action: 'dashboard:share',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const made = await links.make(
        call,
        call.params.uid,
        call.body,
        await askingOf(call.principal),
      );
      const { token } = made;
      return { ...shownLink(made), token, path: `/ui/shared/${token}` };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/monitor/links/{id}',
    access: 'monitor:share',
    summary: 'Revoke a public link',
    params: LinkId,
    action: 'dashboard:unshare',
    errors: ['not_found'],
    handle: (call) => links.revoke(call, call.params.id),
  }),
  route({
    method: 'GET',
    path: '/api/v1/monitor/shared/{token}',
    access: 'public',
    summary: 'Get what a public link shows: one dashboard with its data',
    description: 'The token is the secret. The data is at most 10 s old.',
    params: LinkToken,
    response: SharedDashboard,
    errors: ['not_found'],
    handle({ params, setHeader }) {
      setHeader('cache-control', 'no-store');
      return links.open(params.token);
    },
  }),
];

const shownLink = ({
  id,
  dashboardUid,
  note,
  rangeS,
  madeBy,
  madeAt,
  expiresAt,
  openedAt,
}: Link) => ({
  id,
  dashboard_uid: dashboardUid,
  note,
  range_s: rangeS,
  made_by: madeBy,
  made_at: timestamp(madeAt),
  expires_at: timestamp(expiresAt),
  opened_at: openedAt === null ? null : timestamp(openedAt),
});
