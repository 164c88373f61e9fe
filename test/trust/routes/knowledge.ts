import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/knowledge/docs                          any  narrowed
    POST    /api/v1/knowledge/docs                          knowledge:create  narrowed
    GET     /api/v1/knowledge/docs/{id}                     any  narrowed
    PATCH   /api/v1/knowledge/docs/{id}                     knowledge:update  narrowed
    PATCH   /api/v1/knowledge/docs/{id}/move                knowledge:update  narrowed
    DELETE  /api/v1/knowledge/docs/{id}                     knowledge:delete  narrowed
    GET     /api/v1/knowledge/docs/{id}/versions            any  narrowed
    GET     /api/v1/knowledge/docs/{id}/versions/{version}  any  narrowed
    GET     /api/v1/knowledge/paths                         any  narrowed
    POST    /api/v1/knowledge/paths/move                    knowledge:update  narrowed
    GET     /api/v1/knowledge/search                        any  narrowed
    GET     /api/v1/knowledge/document                      any  narrowed
    GET     /api/v1/knowledge/runbook                       any  narrowed
    GET     /api/v1/knowledge/docs/{id}/care                any  narrowed
    PATCH   /api/v1/knowledge/docs/{id}/care                knowledge:update  narrowed
    PUT     /api/v1/knowledge/docs/{id}/vote                any  narrowed
    GET     /api/v1/knowledge/review                        knowledge:update  narrowed
    GET     /api/v1/knowledge/gaps                          knowledge:create  narrowed
    DELETE  /api/v1/knowledge/gaps/{id}                     knowledge:create  narrowed
    GET     /api/v1/knowledge/index                         any  refused
    POST    /api/v1/knowledge/index/rebuild                 knowledge:update  refused
    POST    /api/v1/knowledge/vault/sync                    knowledge:sync  refused
    GET     /api/v1/knowledge/repos                         any  none
    POST    /api/v1/knowledge/repos                         knowledge:create  refused
    POST    /api/v1/knowledge/repos/{id}/sync               knowledge:sync  refused
    PATCH   /api/v1/knowledge/repos/{id}                    knowledge:update  refused
    DELETE  /api/v1/knowledge/repos/{id}                    knowledge:delete  refused
    GET     /api/v1/knowledge/ssh-identities                knowledge:identity  refused
    POST    /api/v1/knowledge/ssh-identities                knowledge:identity  refused
    POST    /api/v1/knowledge/ssh-identities/generate       knowledge:identity  refused
    PATCH   /api/v1/knowledge/ssh-identities/{id}           knowledge:identity  refused
    DELETE  /api/v1/knowledge/ssh-identities/{id}           knowledge:identity  refused
    POST    /api/v1/knowledge/upload                        knowledge:create  narrowed
    POST    /api/v1/knowledge/import                        knowledge:create  narrowed
  `,
  owned: {
    repos: async ({ ask, orgId }) =>
      (
        (
          await ask('POST', '/api/v1/knowledge/repos', {
            url: 'https://127.0.0.1:1/x.git',
            mount: `repos/of-${orgId}`,
            org_id: orgId,
            sync_interval: 0,
          })
        ).body as { id: number }
      ).id,
    docs: async ({ ask, orgId }) =>
      (
        (
          await ask('POST', '/api/v1/knowledge/docs', {
            path: `notes/of-${orgId}.md`,
            content: '# Mine',
            org_id: orgId,
          })
        ).body as { id: number }
      ).id,
  },
  houseWide: ['versions', 'ssh-identities', 'gaps'],
  fields: { ssh_identity_id: 'ssh-identities' },
  bodies: {
    'POST /api/v1/knowledge/repos': () => ({
      url: 'https://127.0.0.1:1/new.git',
      sync_interval: 0,
    }),
    'POST /api/v1/knowledge/ssh-identities/generate': () => ({ name: 'new' }),
    'PATCH /api/v1/knowledge/ssh-identities/{id}': () => ({ comment: 'mine' }),
    'POST /api/v1/knowledge/docs': () => ({ path: 'notes/new.md', content: '# New' }),
    'PATCH /api/v1/knowledge/docs/{id}': () => ({ title: 'Mine' }),
    'PATCH /api/v1/knowledge/docs/{id}/care': () => ({ owner: 'ops' }),
    'PUT /api/v1/knowledge/docs/{id}/vote': () => ({ helpful: true }),
    'PATCH /api/v1/knowledge/docs/{id}/move': () => ({ path: 'notes/moved.md' }),
  },
};
