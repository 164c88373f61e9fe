import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST /api/v1/integrations/dash/sync admin
    POST /api/v1/integrations/dash/test admin
  `,
};
