import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/monitor/panels                   any  none
    POST    /api/v1/monitor/panels                   monitor:write  refused
    PATCH   /api/v1/monitor/panels/{id}              monitor:write  refused
    DELETE  /api/v1/monitor/panels/{id}              monitor:write  refused
    POST    /api/v1/monitor/dashboards/import        monitor:write  refused
    GET     /api/v1/monitor/dashboards/{uid}/export  any  none
    GET     /api/v1/monitor/dashboards               any  none
    GET     /api/v1/monitor/dashboards/{uid}         any  none
    PUT     /api/v1/monitor/dashboards/{uid}         monitor:write  refused
    POST    /api/v1/monitor/dashboards/{uid}/copy    monitor:write  refused
    GET     /api/v1/monitor/dashboards/{uid}/versions  any  none
    GET     /api/v1/monitor/dashboards/{uid}/versions/{version}  any  none
    POST    /api/v1/monitor/dashboards/{uid}/versions/{version}/restore  monitor:write  refused
    DELETE  /api/v1/monitor/dashboards/{uid}         monitor:write  refused
    GET     /api/v1/monitor/links                    monitor:share  refused
    POST    /api/v1/monitor/dashboards/{uid}/links   monitor:share  refused
    DELETE  /api/v1/monitor/links/{id}               monitor:share  refused
    GET     /api/v1/monitor/shared/{token}           public
    GET     /api/v1/observability/dashboards         any  none
    GET     /api/v1/observability/dashboards/{uid}   any  narrowed
    POST    /api/v1/observability/dashboards/{uid}/preview  monitor:write  refused
  `,
  // Whoever knows the address of a public link may open it.
  // The `id` of a transformation is its kind, as Grafana has it: a name without a collection, plus "s".
  houseWide: ['panels', 'dashboards', 'links', 'shared', 's'],
};
