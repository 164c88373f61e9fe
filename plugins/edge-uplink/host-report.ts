import { statfsSync } from 'node:fs';
import {
  arch,
  availableParallelism,
  hostname,
  networkInterfaces,
  release,
  totalmem,
  type,
} from 'node:os';

import type { Introduced } from 'svc/edge-protocol';
import type { HostInfo } from 'svc/edge-protocol';
import { type Logger, messageOf } from 'svc/sdk';
import { readText, type TunnelSession } from 'svc/tunnel';

const reportMs = 15_000;

export interface HostReportParts {
  readonly session: () => TunnelSession | undefined;
  /** Fingerprint of the hardware. */
  readonly fingerprint: string | undefined;
  readonly onTaken: () => void;
  readonly log: Logger;
}

/** Report about this host, with what the manager has accepted; sent again when it changes. */
export class HostReport {
  readonly #parts: HostReportParts;
  #taken: string | undefined;
  #problem: string | undefined;

  constructor(parts: HostReportParts) {
    this.#parts = parts;
  }

  /** Why the manager files what comes from here under no device. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reports everything over a new connection. */
  async sendAgain(): Promise<void> {
    this.#taken = undefined;
    await this.send();
  }

  async refresh(): Promise<void> {
    // What waits for a person is asked for again: the answer may be another one by now.
    if (this.#problem !== undefined || JSON.stringify(this.#describe()) !== this.#taken) {
      await this.send();
    }
  }

  async send(): Promise<void> {
    const { session, onTaken, log } = this.#parts;
    const info = this.#describe();
    try {
      this.#heard(
        await session()?.call<Introduced>(
          'tell',
          { event: 'host_info', payload: info },
          { timeoutMs: reportMs },
        ),
      );
      this.#taken = JSON.stringify(info);
      onTaken();
    } catch (error) {
      this.#taken = undefined;
      log.warn(
        { event: 'uplink.report_failed', cause: messageOf(error) },
        'failed to report this machine to the manager; retrying within a minute',
      );
    }
  }

  #heard(answer: Introduced | undefined): void {
    const told =
      answer?.device_id === null && typeof answer.reason === 'string'
        ? answer.reason.slice(0, 1_000)
        : undefined;
    if (told !== undefined && told !== this.#problem) {
      this.#parts.log.warn(
        { event: 'uplink.no_device', reason: told },
        "manager has no device for this machine's data",
      );
    }
    this.#problem = told;
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
