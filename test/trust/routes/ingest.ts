import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST  /loki/api/v1/push                   ingest:push|machine
    POST  /v1/metrics                         ingest:push|machine
    POST  /v1/logs                            ingest:push|machine
    POST  /v1/traces                          ingest:push|machine
    POST  /otlp/v1/logs                       ingest:push|machine
    POST  /loki/otlp/v1/logs                  ingest:push|machine
    POST  /prometheus/api/v1/otlp/v1/metrics  ingest:push|machine
    POST  /api/v1/write                       ingest:push|machine
    POST  /prometheus/api/v1/write            ingest:push|machine
    POST  /api/v1/import/prometheus           ingest:push|machine
    GET   /internal/auth/dataplane-verify     public
  `,
};
