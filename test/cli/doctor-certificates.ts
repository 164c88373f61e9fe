import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Files {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** Signed by the authority, and without its certificate. */
  certificate(
    name: string,
    options: { readonly names: readonly string[]; readonly days: number },
  ): Files;
  /** The file of that certificate with the authority's behind it. */
  chained(files: Files): string;
  selfSigned(name: string, host: string, days: number): Files;
}

/** An authority of a test, made by openssl in that folder. */
export function authorityOf(folder: string): Authority {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('openssl', args);
    assert.equal(status, 0, String(stderr));
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '100',
    '-subj',
    '/CN=test authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  return {
    certificate(name, { names, days }) {
      const [key, request, cert, extensions] = [
        at(`${name}.key`),
        at(`${name}.csr`),
        at(`${name}.pem`),
        at(`${name}.ext`),
      ];
      writeFileSync(extensions, `subjectAltName=${names.map((host) => `DNS:${host}`).join(',')}\n`);
      openssl('req', ...newKey, '-subj', `/CN=${names[0]}`, '-keyout', key, '-out', request);
      const signed = [
        '-CA',
        at('ca.pem'),
        '-CAkey',
        at('ca.key'),
        '-CAcreateserial',
        '-extfile',
        extensions,
      ];
      openssl('x509', '-req', '-in', request, '-out', cert, '-days', String(days), ...signed);
      return { cert, key };
    },
    chained({ cert }) {
      writeFileSync(
        `${cert}.chain`,
        readFileSync(cert, 'utf8') + readFileSync(at('ca.pem'), 'utf8'),
      );
      return `${cert}.chain`;
    },
    selfSigned(name, host, days) {
      const files = { cert: at(`${name}.pem`), key: at(`${name}.key`) };
      const args = [
        '-days',
        String(days),
        '-subj',
        `/CN=${host}`,
        '-addext',
        `subjectAltName=DNS:${host},IP:127.0.0.1`,
      ];
      openssl('req', '-x509', ...newKey, ...args, '-keyout', files.key, '-out', files.cert);
      return files;
    },
  };
}
