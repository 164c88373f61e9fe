import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/heartbeats                 any  refused
    POST    /api/v1/heartbeats                 heartbeat:edit  refused
    GET     /api/v1/heartbeats/{name}          any  refused
    PATCH   /api/v1/heartbeats/{name}          heartbeat:edit  refused
    DELETE  /api/v1/heartbeats/{name}          heartbeat:edit  refused
    GET     /api/v1/heartbeats/{name}/address  heartbeat:edit  refused
    POST    /api/v1/heartbeats/{name}/rotate   heartbeat:edit  refused
    GET     /api/v1/heartbeats/{name}/pings    any  refused
    GET     /api/v1/heartbeats/{name}/logs     heartbeat:edit  refused
    GET     /hb/{token}                        public
    POST    /hb/{token}                        public
    GET     /hb/{token}/{signal}               public
    POST    /hb/{token}/{signal}               public
  `,
  houseWide: ['heartbeats', 'hb'],
};
