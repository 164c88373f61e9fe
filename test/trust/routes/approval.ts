import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/approvals               any  narrowed
    GET     /api/v1/approvals/{id}          any  narrowed
    POST    /api/v1/approvals/{id}/approve  any  narrowed
    POST    /api/v1/approvals/{id}/deny     any  narrowed
    POST    /api/v1/approvals/{id}/cancel   any  narrowed
  `,
  houseWide: ['approvals'],
};
