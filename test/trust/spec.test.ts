import assert from 'node:assert/strict';
import { test } from 'node:test';

import { household } from './household.ts';

/** The routes that the specification of the service names for the areas that stand, with the role it asks for. */
const promised = `
  GET    /healthz                                         public
  GET    /readyz                                          public
  POST   /api/v1/auth/login                               public
  POST   /api/v1/auth/refresh                             public
  POST   /api/v1/auth/register                            public
  GET    /api/v1/version                                  any
  GET    /api/v1/me                                       any
  GET    /api/v1/self                                     any
  GET    /api/v1/users                                    any
  POST   /api/v1/users                                    admin
  PATCH  /api/v1/users/{id}                               admin
  PATCH  /api/v1/users/{id}/password                      self
  PATCH  /api/v1/users/{id}/role                          admin
  DELETE /api/v1/users/{id}                               admin
  GET    /api/v1/orgs                                     any
  POST   /api/v1/orgs                                     admin
  PATCH  /api/v1/orgs/{id}                                admin
  DELETE /api/v1/orgs/{id}                                admin
  GET    /api/v1/orgs/{id}/members                        any
  POST   /api/v1/orgs/{id}/members                        admin
  PATCH  /api/v1/orgs/{id}/members/{user_id}              admin
  DELETE /api/v1/orgs/{id}/members/{user_id}              admin
  GET    /api/v1/system-settings                          any
  PUT    /api/v1/system-settings/{category}/{key}         admin
  DELETE /api/v1/system-settings/{category}/{key}         admin
  GET    /api/v1/system-settings/{category}/{key}/reveal  admin
  GET    /api/v1/admin/audit-logs                         admin
`;

test('every route that the specification promises for the areas that stand is there, documented, and asks for its role', async (t) => {
  const { house, ask } = await household(t);
  const { body: document } = await ask('GET', '/api/v1/openapi.json', house.token);
  const missing: string[] = [];
  for (const line of promised.trim().split('\n')) {
    const [method, path, role] = line.trim().split(/\s+/) as [string, string, string];
    const declared = [...house.registry.current.routes.values()].find(({ value }) => value.method === method && value.path === path)?.value;
    if (!declared || !document.paths[path]?.[method.toLowerCase()]) {
      missing.push(`${method} ${path}`);
      continue;
    }
    const { access } = declared;
    const seen = typeof access === 'object' ? 'self' : access.includes(':') ? 'admin' : access;
    assert.equal(seen, role, `${method} ${path} is for ${role}`);
  }
  assert.deepEqual(missing, []);
});
