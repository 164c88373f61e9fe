import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /healthz  public
    GET  /readyz   public
    GET  /metrics  host:metrics  refused
  `,
};
