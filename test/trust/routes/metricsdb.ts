import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /api/v1/metricsdb/launch                 admin
    POST    /api/v1/metricsdb/query_range            any
    GET     /api/v1/metricsdb/auth                   public
    POST    /api/v1/integrations/metricsdb/test      admin
    GET     /prometheus/api/v1/query                 any
    POST    /prometheus/api/v1/query                 any
    GET     /prometheus/api/v1/query_range           any
    POST    /prometheus/api/v1/query_range           any
    GET     /prometheus/api/v1/series                any
    POST    /prometheus/api/v1/series                any
    GET     /prometheus/api/v1/labels                any
    POST    /prometheus/api/v1/labels                any
    GET     /prometheus/api/v1/label/{name}/values   any
    GET     /prometheus/api/v1/metadata              any
    GET     /prometheus/api/v1/query_exemplars       any
    POST    /prometheus/api/v1/query_exemplars       any
    GET     /prometheus/api/v1/format_query          any
    POST    /prometheus/api/v1/format_query          any
    GET     /prometheus/api/v1/rules                 any
    GET     /prometheus/api/v1/alerts                any
    GET     /prometheus/api/v1/targets               any
    GET     /prometheus/api/v1/status/buildinfo      any
    GET     /prometheus/api/v1/status/runtimeinfo    any
    GET     /prometheus/api/v1/status/flags          any
    GET     /prometheus/api/v1/status/tsdb           any
    GET     /prometheus/-/healthy                    any
    GET     /prometheus/-/ready                      any
  `,
};
