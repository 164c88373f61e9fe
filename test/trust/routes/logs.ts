import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/logs/query_range              any  narrowed
    GET     /api/v1/logs/labels                   any  narrowed
    GET     /api/v1/logs/labels/{name}/values     any  narrowed
    POST    /api/v1/integrations/logstore/test    admin
    GET     /loki/api/v1/query                    any  narrowed
    POST    /loki/api/v1/query                    any  narrowed
    GET     /loki/api/v1/query_range              any  narrowed
    POST    /loki/api/v1/query_range              any  narrowed
    GET     /loki/api/v1/labels                   any  narrowed
    POST    /loki/api/v1/labels                   any  narrowed
    GET     /loki/api/v1/label                    any  narrowed
    GET     /loki/api/v1/label/{name}/values      any  narrowed
    GET     /loki/api/v1/series                   any  narrowed
    POST    /loki/api/v1/series                   any  narrowed
    GET     /loki/api/v1/index/stats              any  narrowed
    POST    /loki/api/v1/index/stats              any  narrowed
    GET     /loki/api/v1/index/volume             any  narrowed
    POST    /loki/api/v1/index/volume             any  narrowed
    GET     /loki/api/v1/index/volume_range       any  narrowed
    POST    /loki/api/v1/index/volume_range       any  narrowed
    GET     /loki/api/v1/patterns                 any  narrowed
    POST    /loki/api/v1/patterns                 any  narrowed
    GET     /loki/api/v1/detected_fields          any  narrowed
    POST    /loki/api/v1/detected_fields          any  narrowed
    GET     /loki/api/v1/detected_field/{name}/values  any  narrowed
    GET     /loki/ready                           any  none
    GET     /loki/api/v1/detected_labels          any  narrowed
    POST    /loki/api/v1/detected_labels          any  narrowed
    GET     /loki/api/v1/format_query             any  none
    POST    /loki/api/v1/format_query             any  none
    GET     /loki/api/v1/status/buildinfo         any  none
    GET     /loki/api/v1/tail                     any  narrowed
  `,
  houseWide: ['labels', 'label', 'detected_field'],
};
