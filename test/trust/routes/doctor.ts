import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/doctor                         admin
    POST  /api/v1/doctor/probes                  admin
    GET   /api/v1/doctor/probes/{probe}/stream   public
    GET   /api/v1/doctor/probes/{probe}/socket   public
  `,
  // Names of an echo, which belongs to nobody.
  houseWide: ['probes'],
};
