import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const subject = '/CN=127.0.0.1';

/** Makes a self-signed certificate, and puts it where the service reads its own; a negative number of days ago it has ended. */
export function certify(folder: string, name: string, days: number): void {
  const [key, cert] = [join(folder, 'good.key'), join(folder, `${name}.cert`)];
  if (!existsSync(key)) {
    openssl(['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', key]);
  }
  if (!existsSync(cert)) {
    const request = join(folder, `${name}.csr`);
    openssl(['req', '-new', '-key', key, '-subj', subject, '-out', request]);
    const from = new Date(Date.now() - 10 * 86_400_000);
    sign(folder, { key, request, cert, from, to: new Date(Date.now() + days * 86_400_000) });
  }
  copyFileSync(key, join(folder, 'live.key'));
  copyFileSync(cert, join(folder, 'live.cert'));
}

interface Signing {
  readonly key: string;
  readonly request: string;
  readonly cert: string;
  readonly from: Date;
  readonly to: Date;
}

/** `openssl ca` is the one that takes any dates. */
function sign(folder: string, { key, request, cert, from, to }: Signing): void {
  const place = join(folder, 'authority');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  writeFileSync(join(place, 'index'), '');
  writeFileSync(
    join(place, 'conf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${place}/index\nrand_serial=yes\nnew_certs_dir=${place}\ndefault_md=sha256\npolicy=any\nx509_extensions=names\n[any]\ncommonName=supplied\n[names]\nsubjectAltName=IP:127.0.0.1\nbasicConstraints=CA:TRUE\n`,
  );
  const at = (date: Date): string => date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  openssl([
    'ca',
    '-batch',
    '-selfsign',
    '-config',
    join(place, 'conf'),
    '-keyfile',
    key,
    '-in',
    request,
    '-out',
    cert,
    '-notext',
    '-startdate',
    at(from),
    '-enddate',
    at(to),
  ]);
}

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
