import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET    /api/v1/agents               any  none
    GET    /api/v1/agents/{name}        any  none
    DELETE /api/v1/agents/{name}        agent:delete  none
    POST   /api/v1/agents/route         any  narrowed
    POST   /api/v1/agents/custom        agent:create  none
    PATCH  /api/v1/agents/custom/{name} agent:update  none
    DELETE /api/v1/agents/custom/{name} agent:delete  none
  `,
  houseWide: ['agents', 'custom'],
};
