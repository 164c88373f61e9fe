import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /api/v1/version  any  none
  `,
};
