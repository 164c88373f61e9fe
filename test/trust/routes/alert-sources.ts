import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/alert-sources                any
    POST    /api/v1/alert-sources                alert:source
    GET     /api/v1/alert-sources/{id}           any
    PUT     /api/v1/alert-sources/{id}           alert:source
    DELETE  /api/v1/alert-sources/{id}           alert:source
    POST    /api/v1/alert-sources/{id}/rotate    alert:source
    POST    /api/v1/alert-sources/{key}/alerts   alert:tell|machine
    POST    /api/v1/alert-sources/hooks/{token}  public
  `,
  houseWide: ['alert-sources', 'hooks'],
};
