import { createHash } from 'node:crypto';

import { type MachineKey, machineKeyOf } from 'svc/tunnel';

import { pick, type Random, seeded } from 'svc/seeded';

/** Simulated host: everything follows from the seed and its number, so that it is reproducible. */
export interface SimulatedHost {
  readonly number: number;
  readonly uuid: string;
  readonly bootId: string;
  readonly hostname: string;
  /** Host info as agents report it. */
  readonly info: Readonly<Record<string, string | number>>;
  readonly nature: Nature;
}

/** Load profile of a host. */
export interface Nature {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** 0…1 of its processors at a usual moment. */
  readonly busy: number;
  /** Amplitude between day and night. */
  readonly swing: number;
  /** When its day begins, as a part of one. */
  readonly dawn: number;
  readonly bootedAt: number;
}

const gibibyte = 2 ** 30;
const roles = ['web', 'api', 'db', 'cache', 'worker', 'build', 'mail', 'edge'];
const places = ['fra', 'ams', 'iad', 'sin', 'gru'];
const systems = [
  { os: 'debian', os_version: '12', kernel_version: '6.1.0-26-amd64' },
  { os: 'ubuntu', os_version: '24.04', kernel_version: '6.8.0-47-generic' },
  { os: 'rocky', os_version: '9.4', kernel_version: '5.14.0-427.13.1.el9_4.x86_64' },
];
const dayMs = 86_400_000;
/** 2026-01-01: a host of a seed was started at the same moment in every run. */
const epoch = 1_767_225_600_000;

export function hostOf(seed: string, number: number): SimulatedHost {
  const random = seeded('host', seed, number);
  const nature = natureOf(random);
  const hostname = `${pick(random, roles)}-${String(number).padStart(5, '0')}.${pick(random, places)}.sim`;
  const ip = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  return {
    number,
    hostname,
    nature,
    uuid: uuidOf('machine', seed, number),
    bootId: uuidOf('boot', seed, number),
    info: {
      hostname,
      ...pick(random, systems),
      arch: 'x64',
      ip_address: ip,
      cpu_count: nature.cpus,
      mem_total_bytes: nature.memoryBytes,
      disk_total_bytes: nature.diskBytes,
    },
  };
}

/** Prefix of the 32 bytes of an ed25519 key in PKCS #8. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Returns the machine key of a simulated host; the same in every run, so that it stays the same
 * device.
 */
export const machineKey = (seed: string, number: number): MachineKey =>
  machineKeyOf(
    Buffer.concat([
      keyPrefix,
      createHash('sha256').update(`machine key ${seed} ${number}`).digest(),
    ]),
  );

function natureOf(random: Random): Nature {
  return {
    cpus: pick(random, [2, 2, 4, 4, 8, 16]),
    memoryBytes: pick(random, [4, 8, 8, 16, 32, 64]) * gibibyte,
    diskBytes: pick(random, [40, 80, 160, 500]) * gibibyte,
    busy: 0.05 + 0.5 * random() ** 2,
    swing: 0.1 + 0.5 * random(),
    dawn: 0.2 + 0.2 * random(),
    bootedAt: epoch - Math.floor(random() * 90 * dayMs),
  };
}

function uuidOf(...parts: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(parts.join('\n')).digest('hex');
  // Version 8 of RFC 9562: made in a way of one's own.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
