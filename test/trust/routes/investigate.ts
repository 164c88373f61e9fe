import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/alerts/incidents/{id}/investigation             any  narrowed
    POST  /api/v1/alerts/incidents/{id}/investigation             any  narrowed
    GET   /api/v1/investigations                                  any  narrowed
    GET   /api/v1/investigations/calibration                      any  refused
    GET   /api/v1/investigations/{id}                             any  narrowed
    GET   /api/v1/investigations/{id}/markdown                    any  narrowed
    GET   /api/v1/investigations/{id}/evidence/{evidence}/again   any  narrowed
    GET   /api/v1/investigations/{id}/replay                      any  narrowed
    POST  /api/v1/investigations/{id}/feedback                    any  narrowed
  `,
  houseWide: ['investigations', 'evidence', 'incidents'],
  fields: { incident_id: 'incidents' },
};
