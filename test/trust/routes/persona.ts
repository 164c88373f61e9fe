import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET    /api/v1/agents               any
    GET    /api/v1/agents/{name}        any
    DELETE /api/v1/agents/{name}        agent:delete
    POST   /api/v1/agents/route         any
    POST   /api/v1/agents/custom        agent:create
    PATCH  /api/v1/agents/custom/{name} agent:update
    DELETE /api/v1/agents/custom/{name} agent:delete
  `,
  houseWide: ['agents', 'custom'],
};
