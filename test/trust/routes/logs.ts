import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/logs/query_range              any
    GET     /api/v1/logs/labels                   any
    GET     /api/v1/logs/labels/{name}/values     any
    POST    /api/v1/integrations/logstore/test    admin
    GET     /loki/api/v1/query                    any
    POST    /loki/api/v1/query                    any
    GET     /loki/api/v1/query_range              any
    POST    /loki/api/v1/query_range              any
    GET     /loki/api/v1/labels                   any
    POST    /loki/api/v1/labels                   any
    GET     /loki/api/v1/label                    any
    GET     /loki/api/v1/label/{name}/values      any
    GET     /loki/api/v1/series                   any
    POST    /loki/api/v1/series                   any
    GET     /loki/api/v1/index/stats              any
    POST    /loki/api/v1/index/stats              any
    GET     /loki/api/v1/index/volume             any
    POST    /loki/api/v1/index/volume             any
    GET     /loki/api/v1/index/volume_range       any
    POST    /loki/api/v1/index/volume_range       any
    GET     /loki/api/v1/patterns                 any
    POST    /loki/api/v1/patterns                 any
    GET     /loki/api/v1/detected_fields          any
    POST    /loki/api/v1/detected_fields          any
    GET     /loki/api/v1/detected_field/{name}/values  any
    GET     /loki/ready                           any
    GET     /loki/api/v1/detected_labels          any
    POST    /loki/api/v1/detected_labels          any
    GET     /loki/api/v1/format_query             any
    POST    /loki/api/v1/format_query             any
    GET     /loki/api/v1/status/buildinfo         any
    GET     /loki/api/v1/tail                     any
  `,
  houseWide: ['labels', 'label', 'detected_field'],
};
