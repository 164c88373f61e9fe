import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/aiops/mentions/search  any  narrowed
  `,
};
