import type { MachineFiles } from 'svc/probe';

export interface SocketRow {
  readonly protocol: string;
  readonly state: string;
  readonly local_address: string;
  readonly local_port: number;
  readonly remote_address: string;
  readonly remote_port: number;
  readonly uid: number;
  readonly inode: string;
}

/** States in the numbering of include/net/tcp_states.h. */
const states = [
  '',
  'established',
  'syn_sent',
  'syn_received',
  'fin_wait1',
  'fin_wait2',
  'time_wait',
  'close',
  'close_wait',
  'last_ack',
  'listen',
  'closing',
  'new_syn_received',
];
const maxBytes = 4 * 1024 * 1024;

export const socketProtocols = ['tcp', 'tcp6', 'udp', 'udp6'] as const;

/** Sockets of one protocol; `whole` is false when there are more than are read. */
export function readSockets(
  files: MachineFiles,
  protocol: (typeof socketProtocols)[number],
): { readonly rows: readonly SocketRow[]; readonly whole: boolean } {
  const text = files.text(`/proc/self/net/${protocol}`, maxBytes) ?? '';
  const rows = text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/, 10);
      const [from, to] = [endpoint(local), endpoint(remote)];
      if (from === undefined || to === undefined || state === undefined || inode === undefined) {
        return [];
      }
      const named = states[Number.parseInt(state, 16)] ?? 'unknown';
      return [
        {
          protocol,
          // A socket of UDP that takes from any sender is "closed" to the kernel.
          state: protocol.startsWith('udp')
            ? named === 'established'
              ? 'established'
              : 'listen'
            : named,
          local_address: from.address,
          local_port: from.port,
          remote_address: to.address,
          remote_port: to.port,
          uid: Number(uid),
          inode,
        },
      ];
    });
  return { rows, whole: Buffer.byteLength(text) < maxBytes };
}

/**
 * Parses `0100007F:1F90`: words of 32 bits in host byte order, which is little-endian wherever Node
 * runs as an agent.
 */
function endpoint(
  text: string | undefined,
): { readonly address: string; readonly port: number } | undefined {
  const [, hex, port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(text ?? '') ?? [];
  if (hex === undefined || port === undefined) {
    return undefined;
  }
  const bytes = Buffer.from(hex, 'hex');
  bytes.swap32();
  return {
    address: bytes.length === 4 ? bytes.join('.') : ipv6(bytes),
    port: Number.parseInt(port, 16),
  };
}

function ipv6(bytes: Buffer): string {
  const words = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(
    ':',
  );
  const mapped = words.startsWith('0:0:0:0:0:ffff:')
    ? `::ffff:${bytes.subarray(12).join('.')}`
    : undefined;
  return mapped ?? new URL(`http://[${words}]`).hostname.slice(1, -1);
}
