import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { backupUnitTexts, serviceName, unitText } from '../../serve/unit.ts';

export interface DebianPackage {
  /** The single binary. */
  readonly binary: string;
  readonly version: string;
  /** Architecture as Node names it. */
  readonly arch: string;
  readonly licence: string;
  readonly out: string;
  /** An empty folder to work in. */
  readonly workshop: string;
}

const deadlineMs = 300_000;
const dataDir = '/var/lib/svc';
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** The same files make the same package. */
const noTime = '315532800';

const control = (version: string, architecture: string, kib: number): string => `Package: svc
Version: ${version}
Architecture: ${architecture}
Maintainer: svc <svc@localhost>
Installed-Size: ${kib}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11), passwd
Recommends: systemd (>= 250)
Section: admin
Priority: optional
Description: watches a fleet of hosts
 One process with metrics, logs, traces, alerts and investigations, and the
 agent for its hosts. It runs as the user svc and keeps its data in
 ${dataDir}; "svc user create" makes the first administrator.
`;

/**
 * Maintainer scripts. On an upgrade the service is restarted by the new program, which makes a
 * backup before it changes the data.
 */
const scripts = {
  postinst: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd ${serviceName} >/dev/null ||
    useradd --system --home-dir ${dataDir} --no-create-home --shell /usr/sbin/nologin --user-group ${serviceName}
  for group in adm systemd-journal; do
    if getent group "$group" >/dev/null; then usermod --append --groups "$group" ${serviceName}; fi
  done
  install -d -o ${serviceName} -g ${serviceName} -m 700 ${dataDir}
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable svc.service svc-backup.timer
    systemctl restart svc.service
    systemctl start svc-backup.timer
  fi
fi
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now svc-backup.timer svc.service
fi
`,
  postrm: `#!/bin/sh
set -e
if [ "$1" = remove ]; then
  rm -f /usr/bin/svc.previous /usr/bin/svc.previous.json /usr/bin/svc.update.json /usr/bin/svc.release-key
fi
if [ "$1" = purge ]; then
  rm -rf ${dataDir} /etc/svc
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
`,
} as const;

const settings = `# Settings that svc reads at its start; "svc setting list" names them all. Secrets: one file each in /etc/svc/credentials, such as SVC_SECRET_KEY.
#SVC_HTTP_ADDR=127.0.0.1:8080
#SVC_PUBLIC_URL=https://svc.example.org
`;

/** Program, units, settings and the user of a service, as dpkg installs them. */
export async function debianPackage({
  binary,
  version,
  arch,
  licence,
  out,
  workshop,
}: DebianPackage): Promise<void> {
  const architecture = architectures[arch];
  if (architecture === undefined) {
    throw new Error(
      `Debian has no architecture for ${arch}; there are packages for ${Object.keys(architectures).join(' and ')}`,
    );
  }
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(workshop, path)), { recursive: true });
    writeFileSync(join(workshop, path), text);
    chmodSync(join(workshop, path), mode);
  };
  const command = ['/usr/bin/svc'];
  put('DEBIAN/control', control(version, architecture, Math.ceil(statSync(binary).size / 1024)));
  put('DEBIAN/conffiles', '/etc/svc/svc.env\n');
  Object.entries(scripts).forEach(([name, text]) => put(`DEBIAN/${name}`, text, 0o755));
  put('etc/svc/svc.env', settings);
  put(
    'lib/systemd/system/svc.service',
    unitText({ command, dataDir, groups: [], credentials: ['svc:/etc/svc/credentials'] }),
  );
  Object.entries(backupUnitTexts({ command, dataDir })).forEach(([name, text]) =>
    put(`lib/systemd/system/${name}`, text),
  );
  put('usr/share/doc/svc/copyright', licence);
  mkdirSync(join(workshop, 'etc/svc/credentials'), { mode: 0o700 });
  mkdirSync(join(workshop, 'usr/bin'));
  copyFileSync(binary, join(workshop, 'usr/bin/svc'));
  chmodSync(join(workshop, 'usr/bin/svc'), 0o755);
  [
    '',
    'DEBIAN',
    'etc',
    'etc/svc',
    'lib',
    'lib/systemd',
    'lib/systemd/system',
    'usr',
    'usr/bin',
    'usr/share',
    'usr/share/doc',
    'usr/share/doc/svc',
  ].forEach((folder) => chmodSync(join(workshop, folder), 0o755));
  await promisify(execFile)(
    'dpkg-deb',
    ['--root-owner-group', '-Zgzip', '--build', workshop, out],
    {
      timeout: deadlineMs,
      env: { ...process.env, SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? noTime },
    },
  );
}
