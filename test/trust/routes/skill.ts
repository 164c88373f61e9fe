import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/skills                any  none
    GET     /api/v1/skills/{key}          any  none
    POST    /api/v1/skills/{key}/execute  skill:execute  narrowed
  `,
  houseWide: ['skills'],
};
