import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import type { DashboardBook } from './dashboard-book.ts';

const common = { scope: 'manager', class: 'safe', tier: 'specialty' } as const;

/** What agents and people ask of dashboards: what is drawn where, and by which query. */
export const dashboardSkills = (book: DashboardBook): readonly ToolSkill[] => [
  toolSkill({
    ...common,
    key: 'dashboards_list',
    name: 'Dashboards',
    description: 'The dashboards that there are, with how many panels each has.',
    params: Type.Object({}),
    run: async () => ({ dashboards: await book.list() }),
  }),
  toolSkill({
    ...common,
    key: 'dashboard_get',
    name: 'One dashboard',
    description: 'Panels of a dashboard with their queries, and its variables: queries that are known to work here.',
    params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 200 }) }),
    run: async ({ uid }) => {
      const { title, description, source, variables, panels } = await book.get(uid);
      return { uid, title, description, source, variables, panels: panels.map(({ title: name, type, query, unit }) => ({ title: name, type, query, unit })) };
    },
  }),
];
