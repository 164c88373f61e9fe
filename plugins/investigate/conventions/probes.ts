import type { ShippedConvention } from './shipped-convention.ts';

/** Conventions of probes from outside. */
export const probes: Readonly<Record<string, ShippedConvention>> = {
  probe_success: {
    title: 'share of failed probes',
    metrics: /^(?:probe_success)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query: '1 - avg by ($by) ($metric{$on})',
    outside: true,
  },
  probe_duration: {
    title: 'probe duration',
    metrics: /^(?:probe_duration_seconds|probe_http_duration_seconds)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on})',
    outside: true,
  },
  certificate_expired: {
    title: 'certificate has expired',
    metrics:
      /^(?:probe_ssl_earliest_cert_expiry|x509_cert_not_after|ssl_certificate_expiry_seconds|certmanager_certificate_expiration_timestamp_seconds)$/,
    of: 'any',
    kind: 'events',
    unit: 'ratio',
    query: 'max by ($by) ($metric{$on} <= bool time())',
    outside: true,
  },
};
