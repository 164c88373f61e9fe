import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /mcp                  any
    GET     /api/v1/mcp/servers   any
  `,
};
