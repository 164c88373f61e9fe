import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/health                admin
    GET   /api/v1/plugins               any  none
    GET   /api/v1/plugins/{id}          any  none
    POST  /api/v1/plugins/{id}/reload   admin
    POST  /api/v1/plugins/{id}/enable   admin
    POST  /api/v1/plugins/{id}/disable  admin
  `,
  houseWide: ['plugins'],
};
