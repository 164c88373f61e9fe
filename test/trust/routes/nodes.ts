import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/nodes                                    admin
    POST    /api/v1/nodes/tokens                             admin
    POST    /api/v1/nodes/{id}/drain                         admin
    POST    /api/v1/nodes/{id}/resume                        admin
    DELETE  /api/v1/nodes/{id}                               admin
  `,
  houseWide: ['nodes'],
};
