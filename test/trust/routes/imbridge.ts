import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/im/apps               any
    POST    /api/v1/im/apps               im:create
    GET     /api/v1/im/apps/{id}          any
    PUT     /api/v1/im/apps/{id}          im:update
    DELETE  /api/v1/im/apps/{id}          im:delete
    POST    /api/v1/im/apps/{id}/reveal   admin
    GET     /api/v1/im/links              any
    POST    /api/v1/im/links              any
    DELETE  /api/v1/im/links/{id}         any
    POST    /api/v1/im/{provider}/events  public
    GET     /api/v1/im/{provider}/events  public
  `,
  houseWide: ['apps', 'links', 'im'],
};
