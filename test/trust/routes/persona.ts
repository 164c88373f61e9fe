import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET    /api/v1/agents               any  none
    GET    /api/v1/agents/{name}        any  none
    DELETE /api/v1/agents/{name}        agent:delete  refused
    POST   /api/v1/agents/route         any  narrowed
    POST   /api/v1/agents/custom        agent:create  refused
    PATCH  /api/v1/agents/custom/{name} agent:update  refused
    DELETE /api/v1/agents/custom/{name} agent:delete  refused
  `,
  houseWide: ['agents', 'custom'],
};
