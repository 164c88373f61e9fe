import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/topology/node-types              any
    POST    /api/v1/topology/node-types              topology:create
    GET     /api/v1/topology/node-types/{name}       any
    DELETE  /api/v1/topology/node-types/{name}       topology:delete
    GET     /api/v1/topology/nodes                   any
    POST    /api/v1/topology/nodes                   topology:create
    GET     /api/v1/topology/nodes/{id}              any
    PATCH   /api/v1/topology/nodes/{id}              topology:update
    DELETE  /api/v1/topology/nodes/{id}              topology:delete
    GET     /api/v1/topology/nodes/{id}/blast-radius any
    GET     /api/v1/topology/relation-types          any
    POST    /api/v1/topology/relation-types          topology:create
    GET     /api/v1/topology/relation-types/{name}   any
    DELETE  /api/v1/topology/relation-types/{name}   topology:delete
    GET     /api/v1/topology/relations               any
    POST    /api/v1/topology/relations               topology:create
    GET     /api/v1/topology/relations/{id}          any
    PATCH   /api/v1/topology/relations/{id}          topology:update
    DELETE  /api/v1/topology/relations/{id}          topology:delete
  `,
  houseWide: ['nodes', 'node-types', 'relations', 'relation-types'],
  fields: { node_id: 'nodes', src_id: 'nodes', dst_id: 'nodes' },
};
