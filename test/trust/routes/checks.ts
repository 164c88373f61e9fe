import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/checks                any  refused
    POST    /api/v1/checks                check:edit  refused
    POST    /api/v1/checks/try            check:edit  refused
    GET     /api/v1/checks/{name}         any  refused
    PATCH   /api/v1/checks/{name}         check:edit  refused
    DELETE  /api/v1/checks/{name}         check:edit  refused
    POST    /api/v1/checks/{name}/run     check:edit  refused
    GET     /api/v1/checks/{name}/uptime  any  refused
    GET     /api/v1/checks/{name}/picture any  refused
    GET     /api/v1/check-groups          any  refused
    GET     /api/v1/check-proposals       any  refused
    POST    /api/v1/check-proposals/{id}/take     check:edit  refused
    POST    /api/v1/check-proposals/{id}/dismiss  check:edit  refused
    GET     /api/v1/objectives            any  refused
    POST    /api/v1/objectives            check:edit  refused
    GET     /api/v1/objectives/{name}     any  refused
    PATCH   /api/v1/objectives/{name}     check:edit  refused
    DELETE  /api/v1/objectives/{name}     check:edit  refused
    GET     /badges/checks/{name}         public
  `,
  houseWide: ['checks', 'check-proposals', 'objectives'],
};
