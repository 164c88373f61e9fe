import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/me                           known  none
    GET     /api/v1/self                         known  none
    GET     /api/v1/users                        any  none
    POST    /api/v1/users                        admin
    GET     /api/v1/users/{id}                   any  none
    PATCH   /api/v1/users/{id}                   admin
    PATCH   /api/v1/users/{id}/password          admin|self  none
    PATCH   /api/v1/users/{id}/role              admin
    DELETE  /api/v1/users/{id}                   admin
    GET     /api/v1/orgs                         any  none
    POST    /api/v1/orgs                         admin
    GET     /api/v1/orgs/{id}                    any  none
    PATCH   /api/v1/orgs/{id}                    admin
    DELETE  /api/v1/orgs/{id}                    admin
    GET     /api/v1/orgs/{id}/members            any  none
    POST    /api/v1/orgs/{id}/members            member:manage  none
    PATCH   /api/v1/orgs/{id}/members/{user_id}  member:manage  none
    DELETE  /api/v1/orgs/{id}/members/{user_id}  member:manage  none
    GET     /api/v1/roles                        any  none
    GET     /api/v1/roles/{name}                 any  none
    POST    /api/v1/roles                        role:manage  none
    PATCH   /api/v1/roles/{name}                 role:manage  none
    DELETE  /api/v1/roles/{name}                 role:manage  none
    GET     /api/v1/policy/actions               any  none
    GET     /api/v1/policy/explain               admin
  `,
  owned: { users: ({ person }) => person.id, orgs: ({ orgId }) => orgId },
  houseWide: ['roles'],
  fields: { user_id: 'users', org_id: 'orgs', parent_id: 'orgs' },
  bodies: {
    'POST /api/v1/orgs': () => ({ name: 'New' }),
    'PATCH /api/v1/orgs/{id}': () => ({ description: 'taken over' }),
    'POST /api/v1/orgs/{id}/members': ({ users }) => ({ user_id: users, role: 'member' }),
    'PATCH /api/v1/orgs/{id}/members/{user_id}': () => ({ role: 'viewer' }),
    'PATCH /api/v1/users/{id}': () => ({ display_name: 'Mine now' }),
    'PATCH /api/v1/users/{id}/password': () => ({ password: 'a passphrase of somebody else' }),
    'PATCH /api/v1/users/{id}/role': () => ({ role: 'viewer' }),
  },
};
