import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST /api/v1/integrations/mail/test admin
  `,
};
