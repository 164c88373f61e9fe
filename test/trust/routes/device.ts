import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices                       any  narrowed
    GET     /api/v1/devices/{id}                  any  narrowed
    GET     /api/v1/devices/search                any  narrowed
    GET     /api/v1/devices/groups                any  narrowed
    GET     /api/v1/devices/cells                 any  narrowed
    PATCH   /api/v1/devices/{id}                  device:update  narrowed
    DELETE  /api/v1/devices/{id}                  device:delete  narrowed
    PATCH   /api/v1/devices/{id}/roles            device:update  narrowed
    GET     /api/v1/devices/{id}/edges            any  narrowed
    DELETE  /api/v1/devices/{id}/edges/{edge_id}  device:delete  narrowed
    POST    /api/v1/devices/{id}/edges/{edge_id}/accept  device:accept  narrowed
  `,
  houseWide: ['devices', 'edges'],
};
