import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /api/v1/edges                          edge:create
    GET     /api/v1/edges                          any
    GET     /api/v1/edges/{id}                     any
    DELETE  /api/v1/edges/{id}                     edge:delete
    POST    /api/v1/edges/{id}/rotate-secret       edge:rotate
    POST    /api/v1/edges/{id}/resolve             edge:resolve
    GET     /api/v1/edges/{id}/processes           any
    GET     /api/v1/edges/{id}/metrics             any
    GET     /api/v1/edges/{id}/plugins             any
    PUT     /api/v1/edges/{id}/plugins/{name}      edge:plugin
    GET     /api/v1/integrations/plugin-counts     any
    POST    /api/v1/edges/{id}/upgrade             edge:upgrade
    POST    /api/v1/edges/{id}/upgrade-package     edge:upgrade
    GET     /api/v1/edges/{id}/upgrades            any
    POST    /api/v1/edges/enrolments               edge:enrol
    GET     /api/v1/edges/enrolments               edge:enrol
    DELETE  /api/v1/edges/enrolments/{id}          edge:enrol
    GET     /install.sh                            public
    GET     /internal/edge/agents/{arch}           public
    POST    /internal/edge/enrol                   public
    GET     /internal/tunnel                       public
    GET     /internal/edge/packages/{file}         machine
  `,
  houseWide: ['edges', 'devices', 'plugins', 'enrolments', 'packages'],
};
