import {
  isBefore,
  objectIn,
  type Product,
  type ProductQuestion,
  type Told,
} from './connection-test.ts';

const isSuccess = (json: Readonly<Record<string, unknown>> | undefined): Told | undefined =>
  json?.['status'] === 'success' ? {} : undefined;

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Servers that only speak like it number their versions otherwise: what is no 1 or 2 of its own is as new as it says. */
export const prometheus: Product = {
  name: 'Prometheus',
  oldest: '2.24',
  questions: [
    {
      path: '/api/v1/query',
      method: 'POST',
      body: 'query=1',
      headers: form,
      read: (_, json) => isSuccess(json),
    },
    versionAt(
      '/api/v1/status/buildinfo',
      (version, data) =>
        version !== '' &&
        !version.startsWith('0.') &&
        !('application' in data) &&
        isBefore(version, '2.24'),
    ),
    {
      path: '/metrics',
      optional: true,
      read(text) {
        const [, version] = /^vm_app_version\{[^}]*\bshort_version="([^"]*)"/m.exec(text) ?? [];
        // Packages of distributions leave the version out.
        return version === undefined
          ? {}
          : { name: 'VictoriaMetrics', ...(version !== '' && { version }) };
      },
    },
  ],
};

export const loki: Product = {
  name: 'Loki',
  oldest: '2.0',
  questions: [
    { path: '/loki/api/v1/labels', read: (_, json) => isSuccess(json) },
    versionAt('/loki/api/v1/status/buildinfo', (version) => isBefore(version, '2.0')),
  ],
};

/** Tempo; versions before 2.0 have no TraceQL. */
export const tempo: Product = {
  name: 'Tempo',
  oldest: '2.0',
  questions: [
    { path: '/api/echo', read: (text) => (text.slice(0, 32).trim() === 'echo' ? {} : undefined) },
    versionAt('/api/status/buildinfo', (version) => isBefore(version, '2.0')),
  ],
};

/** Older ones have no such page, and those in front of several may not pass it on. */
function versionAt(
  path: string,
  isTooOld: (version: string, data: Readonly<Record<string, unknown>>) => boolean,
): ProductQuestion {
  return {
    path,
    optional: true,
    read(_, json) {
      const data = objectIn(JSON.stringify(json?.['data'] ?? json ?? null)) ?? {};
      const { version } = data;
      return typeof version === 'string' && version !== ''
        ? { version, isTooOld: isTooOld(version, data) }
        : undefined;
    },
  };
}
