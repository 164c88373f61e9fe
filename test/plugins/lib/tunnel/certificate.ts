import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate of a key of its own. */
export function certificate(t: TestContext, name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tunnel-cert-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  ];
  const made = spawnSync('openssl', [
    ...args,
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-keyout',
    key,
    '-out',
    cert,
  ]);
  assert.equal(made.status, 0, String(made.stderr));
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
