import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/topology/node-types              any  none
    POST    /api/v1/topology/node-types              topology:create  refused
    GET     /api/v1/topology/node-types/{name}       any  none
    DELETE  /api/v1/topology/node-types/{name}       topology:delete  refused
    GET     /api/v1/topology/nodes                   any  narrowed
    POST    /api/v1/topology/nodes                   topology:create  refused
    GET     /api/v1/topology/nodes/{id}              any  narrowed
    PATCH   /api/v1/topology/nodes/{id}              topology:update  narrowed
    DELETE  /api/v1/topology/nodes/{id}              topology:delete  narrowed
    GET     /api/v1/topology/nodes/{id}/blast-radius any  narrowed
    GET     /api/v1/topology/relation-types          any  none
    POST    /api/v1/topology/relation-types          topology:create  refused
    GET     /api/v1/topology/relation-types/{name}   any  none
    DELETE  /api/v1/topology/relation-types/{name}   topology:delete  refused
    GET     /api/v1/topology/relations               any  narrowed
    POST    /api/v1/topology/relations               topology:create  narrowed
    GET     /api/v1/topology/relations/{id}          any  narrowed
    PATCH   /api/v1/topology/relations/{id}          topology:update  narrowed
    DELETE  /api/v1/topology/relations/{id}          topology:delete  narrowed
  `,
  houseWide: ['nodes', 'node-types', 'relations', 'relation-types'],
  fields: { node_id: 'nodes', src_id: 'nodes', dst_id: 'nodes' },
};
