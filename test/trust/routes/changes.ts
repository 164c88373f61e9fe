import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/changes  any  refused
    POST  /api/v1/changes  change:post|machine  refused
  `,
  fields: { device_id: 'devices' },
};
