import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/jobs              job:read  refused
    POST  /api/v1/jobs/{id}/cancel  job:cancel  refused
  `,
  // Jobs are work of svc itself.
  houseWide: ['jobs'],
};
