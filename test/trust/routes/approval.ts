import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/approvals               any
    GET     /api/v1/approvals/{id}          any
    POST    /api/v1/approvals/{id}/approve  any
    POST    /api/v1/approvals/{id}/deny     any
    POST    /api/v1/approvals/{id}/cancel   any
  `,
  houseWide: ['approvals'],
};
