import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/im/apps               any  none
    POST    /api/v1/im/apps               im:create  refused
    GET     /api/v1/im/apps/{id}          any  none
    PUT     /api/v1/im/apps/{id}          im:update  refused
    DELETE  /api/v1/im/apps/{id}          im:delete  refused
    POST    /api/v1/im/apps/{id}/reveal   admin
    GET     /api/v1/im/links              any  none
    POST    /api/v1/im/links              any  none
    DELETE  /api/v1/im/links/{id}         any  none
    POST    /api/v1/im/{provider}/events  public
    GET     /api/v1/im/{provider}/events  public
  `,
  houseWide: ['apps', 'links', 'im'],
};
