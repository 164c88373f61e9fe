import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST    /api/v1/edges                          edge:create  refused
    GET     /api/v1/edges                          any  narrowed
    GET     /api/v1/edges/{id}                     any  narrowed
    DELETE  /api/v1/edges/{id}                     edge:delete  narrowed
    POST    /api/v1/edges/{id}/rotate-secret       edge:rotate  narrowed
    POST    /api/v1/edges/{id}/resolve             edge:resolve  narrowed
    GET     /api/v1/edges/{id}/processes           any  narrowed
    GET     /api/v1/edges/{id}/process-history     any  narrowed
    GET     /api/v1/edges/{id}/metrics             any  narrowed
    GET     /api/v1/edges/{id}/policy              any  narrowed
    GET     /api/v1/edges/{id}/plugins             any  narrowed
    PUT     /api/v1/edges/{id}/plugins/{name}      edge:plugin  narrowed
    GET     /api/v1/integrations/plugin-counts     any  narrowed
    POST    /api/v1/edges/{id}/upgrade             edge:upgrade  narrowed
    POST    /api/v1/edges/{id}/upgrade-package     edge:upgrade  narrowed
    GET     /api/v1/edges/{id}/upgrades            any  narrowed
    POST    /api/v1/edges/enrolments               edge:enrol  refused
    GET     /api/v1/edges/enrolments               edge:enrol  refused
    DELETE  /api/v1/edges/enrolments/{id}          edge:enrol  refused
    GET     /install.sh                            public
    GET     /internal/edge/agents/{arch}           public
    POST    /internal/edge/enrol                   public
    GET     /internal/tunnel                       public
    GET     /internal/edge/packages/{file}         machine
  `,
  houseWide: ['edges', 'devices', 'plugins', 'enrolments', 'packages'],
};
