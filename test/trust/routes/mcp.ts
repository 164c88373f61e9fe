import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /mcp                  any  narrowed
    GET     /api/v1/mcp/servers   any  none
    POST    /api/v1/mcp/servers/{name}/accept   mcp:accept  refused
  `,
  houseWide: ['servers'],
  bodies: {
    'POST /api/v1/mcp/servers/{name}/accept': () => ({
      tools: [{ tool: 'search', digest: '0'.repeat(64) }],
    }),
  },
};
