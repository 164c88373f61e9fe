import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/monitor/panels                   any
    POST    /api/v1/monitor/panels                   monitor:write
    PATCH   /api/v1/monitor/panels/{id}              monitor:write
    DELETE  /api/v1/monitor/panels/{id}              monitor:write
    POST    /api/v1/monitor/dashboards/import        monitor:write
    DELETE  /api/v1/monitor/dashboards/{uid}         monitor:write
    GET     /api/v1/observability/dashboards         any
    GET     /api/v1/observability/dashboards/{uid}   any
  `,
  houseWide: ['panels', 'dashboards'],
};
