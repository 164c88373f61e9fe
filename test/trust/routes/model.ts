import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /api/v1/aiops/models                any  none
    GET  /api/v1/usage/today                 any  none
    POST /api/v1/integrations/llm/invalidate admin
    POST /api/v1/integrations/llm/doctor     admin
    POST /api/v1/integrations/llm/test       admin
    POST /api/v1/aiops/query-translate       any  narrowed
  `,
};
