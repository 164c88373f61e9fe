import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /mcp                  any
    GET     /api/v1/mcp/servers   any
    POST    /api/v1/mcp/servers/{name}/accept   mcp:accept
  `,
  houseWide: ['servers'],
  bodies: { 'POST /api/v1/mcp/servers/{name}/accept': () => ({ tools: [{ tool: 'search', digest: '0'.repeat(64) }] }) },
};
