import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** Path of its certificate. */
  readonly file: string;
  readonly pem: string;
  /** Issues a certificate for a name and the loopback addresses, valid for so many days. */
  issue(name: string, days: number): Certificate;
  /** A certificate that nobody has signed. */
  selfSigned(name: string): Certificate;
}

/** A certification authority of its own, made by openssl. */
export function authority(t: TestContext): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'svc-check-certificates-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('openssl', args);
    assert.equal(status, 0, String(stderr));
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const self = (name: string, file: string): void =>
    openssl(
      ...['req', '-x509', ...newKey, '-days', '30', '-subj', `/CN=${name}`],
      ...['-keyout', at(`${file}.key`), '-out', at(`${file}.pem`)],
    );
  const read = (file: string): Certificate => ({
    cert: readFileSync(at(`${file}.pem`), 'utf8'),
    key: readFileSync(at(`${file}.key`), 'utf8'),
  });
  self('Test CA', 'ca');
  let issued = 0;
  return {
    file: at('ca.pem'),
    pem: readFileSync(at('ca.pem'), 'utf8'),
    issue(name, days) {
      const file = `leaf-${++issued}`;
      writeFileSync(at('names'), `subjectAltName=DNS:${name},IP:127.0.0.1,IP:::1`);
      openssl(
        ...['req', ...newKey, '-subj', `/CN=${name}`],
        ...['-keyout', at(`${file}.key`), '-out', at(`${file}.csr`)],
      );
      openssl(
        ...['x509', '-req', '-in', at(`${file}.csr`), '-CA', at('ca.pem'), '-CAkey', at('ca.key')],
        ...['-days', String(days), '-extfile', at('names'), '-out', at(`${file}.pem`)],
      );
      return read(file);
    },
    selfSigned(name) {
      self(name, 'self');
      return read('self');
    },
  };
}
