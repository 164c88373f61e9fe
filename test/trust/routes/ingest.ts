import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    POST  /loki/api/v1/push                   ingest:push|machine  refused
    POST  /v1/metrics                         ingest:push|machine  refused
    POST  /v1/logs                            ingest:push|machine  refused
    POST  /v1/traces                          ingest:push|machine  refused
    POST  /otlp/v1/metrics                    ingest:push|machine  refused
    POST  /otlp/v1/logs                       ingest:push|machine  refused
    POST  /otlp/v1/traces                     ingest:push|machine  refused
    POST  /loki/otlp/v1/logs                  ingest:push|machine  refused
    POST  /prometheus/api/v1/otlp/v1/metrics  ingest:push|machine  refused
    POST  /api/v1/write                       ingest:push|machine  refused
    POST  /prometheus/api/v1/write            ingest:push|machine  refused
    POST  /api/v1/import/prometheus           ingest:push|machine  refused
    GET   /internal/auth/dataplane-verify     public
  `,
};
