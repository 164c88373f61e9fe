import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices                       any
    GET     /api/v1/devices/{id}                  any
    PATCH   /api/v1/devices/{id}                  device:update
    DELETE  /api/v1/devices/{id}                  device:delete
    PATCH   /api/v1/devices/{id}/roles            device:update
    GET     /api/v1/devices/{id}/edges            any
    DELETE  /api/v1/devices/{id}/edges/{edge_id}  device:delete
    POST    /api/v1/devices/{id}/edges/{edge_id}/accept  device:accept
  `,
  houseWide: ['devices', 'edges'],
};
