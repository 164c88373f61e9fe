import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST  /api/v1/password-resets         public
    POST  /api/v1/password-resets/redeem  public
  `,
};
