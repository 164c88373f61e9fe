import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/traces/search                     any
    GET   /api/v1/traces/{trace_id}                 any
    GET   /api/v1/traces/tags/{tag}/values          any
    POST  /api/v1/integrations/tracestore/test      admin
    GET   /tempo/api/search                         any
    GET   /tempo/api/search/tags                    any
    GET   /tempo/api/v2/search/tags                 any
    GET   /tempo/api/search/tag/{tag}/values        any
    GET   /tempo/api/v2/search/tag/{tag}/values     any
    GET   /tempo/api/traces/{trace_id}              any
    GET   /tempo/api/v2/traces/{trace_id}           any
    GET   /tempo/api/metrics/query_range            any
    GET   /tempo/api/metrics/query                  any
    GET   /tempo/api/echo                           any
    GET   /tempo/api/status/buildinfo               any
    GET   /tempo/ready                              any
  `,
  houseWide: ['traces', 'tags', 'tag'],
};
