import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /api/v1/metricsdb/launch                 admin
    POST    /api/v1/metricsdb/drops                  admin
    POST    /prometheus/api/v1/admin/tsdb/delete_series  admin
    PUT     /prometheus/api/v1/admin/tsdb/delete_series  admin
    POST    /api/v1/metricsdb/query_range            any  narrowed
    GET     /api/v1/metricsdb/auth                   public
    POST    /api/v1/integrations/metricsdb/test      admin
    GET     /prometheus/api/v1/query                 any  narrowed
    POST    /prometheus/api/v1/query                 any  narrowed
    GET     /prometheus/api/v1/query_range           any  narrowed
    POST    /prometheus/api/v1/query_range           any  narrowed
    GET     /prometheus/api/v1/series                any  narrowed
    POST    /prometheus/api/v1/series                any  narrowed
    GET     /prometheus/api/v1/labels                any  narrowed
    POST    /prometheus/api/v1/labels                any  narrowed
    GET     /prometheus/api/v1/label/{name}/values   any  narrowed
    GET     /prometheus/api/v1/metadata              any  refused
    GET     /prometheus/api/v1/query_exemplars       any  narrowed
    POST    /prometheus/api/v1/query_exemplars       any  narrowed
    GET     /prometheus/api/v1/format_query          any  none
    POST    /prometheus/api/v1/format_query          any  none
    GET     /prometheus/api/v1/rules                 any  narrowed
    GET     /prometheus/api/v1/alerts                any  narrowed
    GET     /prometheus/api/v1/targets               any  narrowed
    GET     /prometheus/api/v1/status/buildinfo      any  none
    GET     /prometheus/api/v1/status/runtimeinfo    any  refused
    GET     /prometheus/api/v1/status/flags          any  refused
    GET     /prometheus/api/v1/status/tsdb           any  refused
    GET     /prometheus/-/healthy                    any  none
    GET     /prometheus/-/ready                      any  none
  `,
};
