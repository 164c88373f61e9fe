import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/skills                any  narrowed
    GET     /api/v1/skills/{key}          any  narrowed
    POST    /api/v1/skills/{key}/execute  skill:execute  narrowed
    GET     /api/v1/skills/evidence/{id}  any  narrowed
  `,
  houseWide: ['skills'],
};
