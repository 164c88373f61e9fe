import { listRoute, pageOfList, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import {
  CopyBody,
  DashboardDraft,
  DashboardUid,
  Uid,
  UsersDashboardBody,
  UsersDashboardItem,
  VersionDetail,
  VersionItem,
  VersionParams,
  VersionQuery,
} from '../model/schema.ts';
import { bodyOf } from '../model/users-dashboard.ts';
import type { UsersDashboard, UsersDashboards } from '../store/users-dashboards.ts';
import type { Version } from '../store/version-store.ts';

const path = '/api/v1/monitor/dashboards';

/** Routes for everything that users have put on dashboards: to change it, and to carry it to another svc. */
export const usersDashboardRoutes = (users: UsersDashboards): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'none',
    summary: 'List the panels and settings that users added to dashboards, for configuration files',
    items: UsersDashboardItem,
    handle: async ({ page }) =>
      pageOfList((await users.whole()).map(shownWhole), ({ uid }) => uid, page),
  }),
  route({
    method: 'GET',
    path: `${path}/{uid}`,
    access: 'any',
    devices: 'none',
    summary: 'Get the panels and settings that users added to a dashboard, for changing them',
    params: DashboardUid,
    response: DashboardDraft,
    errors: ['not_found', 'conflict'],
    async handle({ params }) {
      const { version, ...draft } = await users.draft(params.uid);
      return {
        ...shownWhole(draft),
        version,
        panels: draft.panels.map((panel) => ({ id: panel.id!, ...shownBody(panel) })),
      };
    },
  }),
  route({
    method: 'PUT',
    path: `${path}/{uid}`,
    access: 'monitor:write',
    brief: ['uid'],
    summary: 'Replace the panels, title and variables that users added to a dashboard',
    params: Type.Object({ uid: Uid }),
    body: UsersDashboardBody,
    response: UsersDashboardItem,
    maxBodyBytes: 4 * 1_048_576,
    action: 'dashboard:put',
    errors: ['conflict'],
    handle: async (call) => shownWhole(await users.put(call, call.params.uid, call.body)),
  }),
  route({
    method: 'POST',
    path: `${path}/{uid}/copy`,
    access: 'monitor:write',
    brief: ['uid'],
    summary: 'Copy a dashboard, which may be from a plugin, as a new one of users',
    params: DashboardUid,
    body: CopyBody,
    response: UsersDashboardItem,
    action: 'dashboard:copy',
    errors: ['not_found', 'conflict'],
    handle: async (call) => shownWhole(await users.copy(call, call.params.uid, call.body)),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{uid}`,
    access: 'monitor:write',
    summary:
      'Delete all panels that users added to a dashboard; a user-created dashboard is deleted with them',
    params: DashboardUid,
    action: 'dashboard:delete',
    errors: ['not_found'],
    handle: (call) => users.remove(call, call.params.uid),
  }),
  ...versionRoutes(users),
];

const versionRoutes = (users: UsersDashboards): readonly RouteDeclaration[] => [
  listRoute({
    path: `${path}/{uid}/versions`,
    access: 'any',
    devices: 'none',
    summary: 'List the versions of a dashboard that are kept, newest first',
    description: 'Up to 50 versions are kept for each dashboard, also of one that was deleted.',
    params: DashboardUid,
    items: VersionItem,
    async handle({ params, page }) {
      const { items, ...rest } = await users.versions(params.uid, page);
      return {
        ...rest,
        items: items.map((version) => ({
          ...shownVersion(version),
          panels: version.content?.panels.length ?? 0,
        })),
      };
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{uid}/versions/{version}`,
    access: 'any',
    devices: 'none',
    summary: 'Get what a version of a dashboard changed',
    params: VersionParams,
    query: VersionQuery,
    response: VersionDetail,
    errors: ['not_found'],
    async handle({ params, query }) {
      const version = await users.version(params.uid, params.version, query.against);
      return {
        ...shownVersion(version),
        against: version.against,
        changes: version.changes.map((change) => ({
          ...change,
          fields: change.fields.map((field) => ({ ...field })),
        })),
      };
    },
  }),
  route({
    method: 'POST',
    path: `${path}/{uid}/versions/{version}/restore`,
    access: 'monitor:write',
    brief: ['uid'],
    summary: 'Restore a version of a dashboard, which becomes its newest one',
    params: VersionParams,
    response: UsersDashboardItem,
    status: 200,
    action: 'dashboard:restore',
    errors: ['not_found', 'conflict'],
    handle: async (call) =>
      shownWhole(await users.restore(call, call.params.uid, call.params.version)),
  }),
];

const shownBody = (panel: UsersDashboard['panels'][number]) => {
  const body = bodyOf(panel);
  return { ...body, thresholds: [...body.thresholds] };
};

const shownWhole = ({ uid, title, variables, panels }: UsersDashboard) => ({
  uid,
  title,
  variables: [...variables],
  panels: panels.map(shownBody),
});

const shownVersion = ({ version, author, madeAt, content }: Version) => ({
  version,
  author,
  made_at: timestamp(madeAt),
  deleted: content === undefined,
});
