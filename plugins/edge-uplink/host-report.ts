import { statfsSync } from 'node:fs';
import { arch, availableParallelism, hostname, networkInterfaces, release, totalmem, type } from 'node:os';

import type { HostInfo } from 'svc/probe';
import { type Logger, messageOf } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';

import { readText } from './text-file.ts';

const reportMs = 15_000;

export interface HostReportParts {
  readonly session: () => TunnelSession | undefined;
  /** Of the machine itself. */
  readonly fingerprint: string | undefined;
  readonly onTaken: () => void;
  readonly log: Logger;
}

/** What this machine is, as the manager has taken it; reported again when it changes. */
export class HostReport {
  readonly #parts: HostReportParts;
  #taken: string | undefined;

  constructor(parts: HostReportParts) {
    this.#parts = parts;
  }

  /** A new connection: everything is to be reported once more. */
  forget(): void {
    this.#taken = undefined;
  }

  async refresh(): Promise<void> {
    if (JSON.stringify(this.#describe()) !== this.#taken) {
      await this.send();
    }
  }

  async send(): Promise<void> {
    const { session, onTaken, log } = this.#parts;
    const info = this.#describe();
    try {
      await session()?.call('tell', { event: 'host_info', payload: info }, { timeoutMs: reportMs });
      this.#taken = JSON.stringify(info);
      onTaken();
    } catch (error) {
      this.#taken = undefined;
      log.warn({ event: 'uplink.report_failed', cause: messageOf(error) }, 'reporting this machine to the manager failed; retried within a minute');
    }
  }

  #describe(): HostInfo & { readonly fingerprint?: string } {
    const { fingerprint } = this.#parts;
    return { ...hostInfo(), ...(fingerprint !== undefined && { fingerprint }) };
  }
}

function hostInfo(): HostInfo {
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
