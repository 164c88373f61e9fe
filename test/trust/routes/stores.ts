import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /api/v1/stores/check                             admin
    POST    /api/v1/stores/mend                              admin
  `,
};
