import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/alert-sources                any  refused
    POST    /api/v1/alert-sources                alert:source  refused
    GET     /api/v1/alert-sources/{id}           any  refused
    PUT     /api/v1/alert-sources/{id}           alert:source  refused
    DELETE  /api/v1/alert-sources/{id}           alert:source  refused
    POST    /api/v1/alert-sources/{id}/rotate    alert:source  refused
    POST    /api/v1/alert-sources/{key}/alerts   alert:tell|machine  refused
    POST    /api/v1/alert-sources/hooks/{token}  public
  `,
  houseWide: ['alert-sources', 'hooks'],
};
