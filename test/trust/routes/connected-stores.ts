import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/connected-stores                 any  refused
    POST    /api/v1/connected-stores                 store:connect  refused
    POST    /api/v1/connected-stores/preview         store:connect  refused
    GET     /api/v1/connected-stores/{name}          any  refused
    PATCH   /api/v1/connected-stores/{name}          store:connect  refused
    DELETE  /api/v1/connected-stores/{name}          store:connect  refused
    POST    /api/v1/connected-stores/{name}/preview  store:connect  refused
    POST    /api/v1/connected-stores/{name}/read     store:connect  refused
  `,
  houseWide: ['connected-stores'],
};
