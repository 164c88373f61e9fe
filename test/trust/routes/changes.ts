import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/changes  any
    POST  /api/v1/changes  change:post|machine
  `,
  fields: { device_id: 'devices' },
};
