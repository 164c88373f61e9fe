import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/changes  any  narrowed
    POST  /api/v1/changes  change:post|machine  narrowed
  `,
  fields: { device_id: 'devices' },
};
