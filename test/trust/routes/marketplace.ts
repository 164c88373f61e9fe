import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET    /api/v1/marketplace/registries                      any  none
    POST   /api/v1/marketplace/registries                      admin
    PUT    /api/v1/marketplace/registries/{name}               admin
    POST   /api/v1/marketplace/registries/{name}/refresh       marketplace:manage  refused
    DELETE /api/v1/marketplace/registries/{name}               admin
    GET    /api/v1/marketplace/search                          any  none
    GET    /api/v1/marketplace/installed                       any  none
    GET    /api/v1/marketplace/installed/{pack_id}             any  none
    POST   /api/v1/marketplace/preview                         marketplace:install  refused
    POST   /api/v1/marketplace/install                         marketplace:install  refused
    POST   /api/v1/marketplace/upload                          marketplace:install  refused
    POST   /api/v1/marketplace/links                           admin
    POST   /api/v1/marketplace/installed/{pack_id}/update      marketplace:install  refused
    POST   /api/v1/marketplace/installed/{pack_id}/rollback    marketplace:manage  refused
    POST   /api/v1/marketplace/installed/{pack_id}/enable      marketplace:manage  refused
    POST   /api/v1/marketplace/installed/{pack_id}/disable     marketplace:manage  refused
    PUT    /api/v1/marketplace/installed/{pack_id}             admin
    PUT    /api/v1/marketplace/installed/{pack_id}/ceiling     admin
    PUT    /api/v1/marketplace/installed/{pack_id}/admitted    admin
    DELETE /api/v1/marketplace/installed/{pack_id}             marketplace:uninstall  refused
    GET    /api/v1/marketplace/history                         marketplace:read  refused
    DELETE /api/v1/marketplace/history/{pack_id}               admin
  `,
  houseWide: ['registries', 'installed', 'history', 'packs'],
  bodies: {
    'POST /api/v1/marketplace/preview': () => ({ registry: 'none', pack_id: 'none' }),
    'POST /api/v1/marketplace/install': () => ({ registry: 'none', pack_id: 'none' }),
    'PUT /api/v1/marketplace/installed/{pack_id}': () => ({
      version: '1.0.0',
      source: { kind: 'folder', from: '/nowhere' },
      sha256: null,
      content_hash: '0'.repeat(64),
      ceiling: { classes: [], tools: [], hosts: [], labels: [] },
      admitted: { personas: [], mcp_servers: [] },
    }),
    'PUT /api/v1/marketplace/registries/{name}': () => ({ url: '/nowhere', public_key: null }),
    'PUT /api/v1/marketplace/installed/{pack_id}/ceiling': () => ({
      classes: [],
      tools: [],
      hosts: [],
      labels: [],
    }),
    'PUT /api/v1/marketplace/installed/{pack_id}/admitted': () => ({
      personas: [],
      mcp_servers: [],
    }),
  },
};
