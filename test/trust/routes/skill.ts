import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/skills                any
    GET     /api/v1/skills/{key}          any
    POST    /api/v1/skills/{key}/execute  skill:execute
  `,
  houseWide: ['skills'],
};
