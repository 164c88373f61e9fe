import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/knowledge/docs                          any
    POST    /api/v1/knowledge/docs                          knowledge:create
    GET     /api/v1/knowledge/docs/{id}                     any
    PATCH   /api/v1/knowledge/docs/{id}                     knowledge:update
    PATCH   /api/v1/knowledge/docs/{id}/move                knowledge:update
    DELETE  /api/v1/knowledge/docs/{id}                     knowledge:delete
    GET     /api/v1/knowledge/docs/{id}/versions            any
    GET     /api/v1/knowledge/docs/{id}/versions/{version}  any
    GET     /api/v1/knowledge/paths                         any
    POST    /api/v1/knowledge/paths/move                    knowledge:update
    GET     /api/v1/knowledge/search                        any
    GET     /api/v1/knowledge/index                         any
    POST    /api/v1/knowledge/index/rebuild                 knowledge:update
    POST    /api/v1/knowledge/vault/sync                    knowledge:sync
  `,
  owned: {
    docs: async ({ ask, orgId }) =>
      ((await ask('POST', '/api/v1/knowledge/docs', { path: `notes/of-${orgId}.md`, content: '# Mine', org_id: orgId })).body as { id: number }).id,
  },
  houseWide: ['versions'],
  bodies: {
    'POST /api/v1/knowledge/docs': () => ({ path: 'notes/new.md', content: '# New' }),
    'PATCH /api/v1/knowledge/docs/{id}': () => ({ title: 'Mine' }),
    'PATCH /api/v1/knowledge/docs/{id}/move': () => ({ path: 'notes/moved.md' }),
  },
};
