import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices                       any  narrowed
    GET     /api/v1/devices/{id}                  any  narrowed
    GET     /api/v1/devices/search                any  narrowed
    GET     /api/v1/devices/groups                any  narrowed
    GET     /api/v1/devices/cells                 any  narrowed
    GET     /api/v1/devices/views                 any  none
    POST    /api/v1/devices/views                 any  none
    DELETE  /api/v1/devices/views/{id}            any  none
    PATCH   /api/v1/devices/{id}                  device:update  narrowed
    DELETE  /api/v1/devices/{id}                  device:delete  narrowed
    PATCH   /api/v1/devices/{id}/roles            device:update  narrowed
    GET     /api/v1/devices/{id}/edges            any  narrowed
    DELETE  /api/v1/devices/{id}/edges/{edge_id}  device:delete  narrowed
    POST    /api/v1/devices/{id}/edges/{edge_id}/accept  device:accept  narrowed
  `,
  owned: {
    async views(owner) {
      const { body } = await owner.ask('POST', '/api/v1/devices/views', {
        name: 'Databases',
        query: 'q=role%3Adb',
      });
      return (body as { id: number }).id;
    },
  },
  houseWide: ['devices', 'edges'],
};
