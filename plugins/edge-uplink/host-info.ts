import { statfsSync } from 'node:fs';
import { arch, availableParallelism, hostname, networkInterfaces, release, totalmem, type } from 'node:os';

import type { HostInfo } from 'svc/probe';

import { readText } from './keep.ts';

/** What this machine says about itself. */
export function hostInfo(): HostInfo {
  const named = osRelease();
  const disk = statfsSync('/');
  const ip = firstAddress();
  return {
    hostname: hostname(),
    os: named.get('ID') ?? type().toLowerCase(),
    os_version: named.get('VERSION_ID') ?? named.get('PRETTY_NAME') ?? release(),
    arch: arch(),
    kernel_version: release(),
    ...(ip !== undefined && { ip_address: ip }),
    cpu_count: availableParallelism(),
    mem_total_bytes: totalmem(),
    disk_total_bytes: disk.blocks * disk.bsize,
  };
}

function osRelease(): ReadonlyMap<string, string> {
  const lines = (readText('/etc/os-release') ?? '').split('\n');
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1).replace(/^["']|["']$/g, '')]] : [];
    }),
  );
}

const firstAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
