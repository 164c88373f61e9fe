import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/traces/search                     any  narrowed
    GET   /api/v1/traces/{trace_id}                 any  narrowed
    GET   /api/v1/traces/tags/{tag}/values          any  narrowed
    POST  /api/v1/integrations/tracestore/test      admin
    GET   /tempo/api/search                         any  narrowed
    GET   /tempo/api/search/tags                    any  narrowed
    GET   /tempo/api/v2/search/tags                 any  narrowed
    GET   /tempo/api/search/tag/{tag}/values        any  narrowed
    GET   /tempo/api/v2/search/tag/{tag}/values     any  narrowed
    GET   /tempo/api/traces/{trace_id}              any  narrowed
    GET   /tempo/api/v2/traces/{trace_id}           any  narrowed
    GET   /tempo/api/metrics/query_range            any  narrowed
    GET   /tempo/api/metrics/query                  any  narrowed
    GET   /tempo/api/echo                           any  none
    GET   /tempo/api/status/buildinfo               any  none
    GET   /tempo/ready                              any  none
  `,
  houseWide: ['traces', 'tags', 'tag'],
};
