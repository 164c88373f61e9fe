import type { MentionType } from 'svc/contracts/mention';

import type { DashboardBook } from '../shelf/dashboard-book.ts';

/** `@dashboard:overview`, found by title or uid. */
export const dashboardMention = (book: DashboardBook): MentionType => ({
  type: 'dashboard',
  devices: 'none',
  async search(q, _principal, limit) {
    const wanted = q.toLowerCase();
    const found = (await book.list()).filter(
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
    const found = await book.find(uid);
    return (
      found && {
        label: found.title,
        facts: { uid, panels: found.panels.map(({ title, query }) => ({ title, query })) },
      }
    );
  },
});
