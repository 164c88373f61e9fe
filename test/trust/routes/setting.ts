import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/system-settings                          any  refused
    PUT     /api/v1/system-settings/{category}/{key}         admin
    DELETE  /api/v1/system-settings/{category}/{key}         admin
    GET     /api/v1/system-settings/{category}/{key}/reveal  admin
  `,
  houseWide: ['system-settings'],
};
