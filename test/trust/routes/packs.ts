import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/packs               admin
    GET   /api/v1/packs/{id}          admin
    POST  /api/v1/packs/{id}/accept   admin
    POST  /api/v1/packs/{id}/revoke   admin
  `,
  houseWide: ['packs'],
};
