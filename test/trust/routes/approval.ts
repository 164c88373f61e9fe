import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/approvals               any  refused
    GET     /api/v1/approvals/{id}          any  refused
    POST    /api/v1/approvals/{id}/approve  any  refused
    POST    /api/v1/approvals/{id}/deny     any  refused
    POST    /api/v1/approvals/{id}/cancel   any  refused
  `,
  houseWide: ['approvals'],
};
