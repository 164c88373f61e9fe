import type { MentionType } from 'svc/contracts/mention';

import type { DashboardService } from '../store/dashboard-service.ts';

/** `@dashboard:overview`, found by title or uid. */
export const dashboardMention = (dashboards: DashboardService): MentionType => ({
  type: 'dashboard',
  devices: 'none',
  async search(q, _principal, limit) {
    const wanted = q.toLowerCase();
    const found = (await dashboards.list()).filter(
      ({ uid, title }) => title.toLowerCase().includes(wanted) || uid.includes(wanted),
    );
    return found.slice(0, limit).map(({ uid, title, panels }) => ({
      type: 'dashboard',
      id: uid,
      label: title,
      insert: `@dashboard:${uid}`,
      subtitle: `${panels} panels`,
    }));
  },
  async resolve(uid) {
    const found = await dashboards.find(uid);
    return (
      found && {
        label: found.title,
        facts: { uid, panels: found.panels.map(({ title, query }) => ({ title, query })) },
      }
    );
  },
});
