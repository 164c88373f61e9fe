import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /api/v1/client.ts     any  none
    GET  /api/v1/openapi.json  any  none
    GET  /api/docs             public
    GET  /docs/errors          public
  `,
};
