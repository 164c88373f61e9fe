import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import { type MachineFiles, parseProcessStat, plainName } from 'svc/probe';

import { fitRows } from '../fit-rows.ts';
import { readSockets, socketProtocols, type SocketRow } from './socket-table.ts';

interface Params {
  readonly state: 'listen' | 'established' | 'all';
  readonly port?: number;
  readonly limit: number;
}

interface Owner {
  readonly pid: number;
  readonly name: string;
}

const [maxLinks, turn] = [50_000, 1_000];

export const sockets = (files: MachineFiles, rest: () => Promise<void>): EdgeSkill => ({
  key: 'sockets',
  name: 'Sockets',
  description:
    'TCP and UDP sockets on this machine: listeners, connections, and the process behind each, if the agent may see it.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      state: { enum: ['listen', 'established', 'all'], default: 'listen' },
      port: {
        type: 'integer',
        minimum: 1,
        maximum: 65535,
        description: 'Only sockets with this port on either side.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 200 },
    },
  },
  async run({ state, port, limit }: Params, call: SkillCall) {
    const tables = socketProtocols.map((protocol) => readSockets(files, protocol));
    const fits = (row: SocketRow): boolean =>
      (state === 'all' || row.state === state) &&
      (port === undefined || row.local_port === port || row.remote_port === port);
    const all = tables.flatMap(({ rows }) => rows.filter(fits));
    const shown = all.slice(0, limit);
    const owners = await ownersOf(new Set(shown.map(({ inode }) => inode)), { files, rest, call });
    const rows = fitRows(
      shown.map(({ inode, ...row }) => ({
        ...row,
        pid: owners.get(inode)?.pid ?? null,
        process: owners.get(inode)?.name ?? null,
      })),
    );
    const whole = rows.length === all.length && tables.every((table) => table.whole);
    const readOn = whole
      ? undefined
      : {
          hint: 'There are more sockets: filter by port or state.',
          params: { limit: Math.min(1_000, limit * 2) },
        };
    return { result: { sockets: rows, total: all.length }, readOn };
  },
});

/** Looks through the open files of every process that lets us; a descriptor is a link such as `socket:[4711]`. */
async function ownersOf(
  inodes: ReadonlySet<string>,
  {
    files,
    rest,
    call,
  }: { readonly files: MachineFiles; readonly rest: () => Promise<void>; readonly call: SkillCall },
): Promise<ReadonlyMap<string, Owner>> {
  const owners = new Map<string, Owner>();
  let links = 0;
  for (const pid of (files.names('/proc') ?? []).filter((name) => /^[1-9]\d{0,9}$/.test(name))) {
    for (const fd of files.names(`/proc/${pid}/fd`) ?? []) {
      const inode = /^socket:\[(\d+)\]$/.exec(files.link(`/proc/${pid}/fd/${fd}`) ?? '')?.[1];
      if (inode !== undefined && inodes.has(inode) && !owners.has(inode)) {
        owners.set(inode, {
          pid: Number(pid),
          name: plainName(
            parseProcessStat(files.text(`/proc/${pid}/stat`, 4_096) ?? '')?.name ?? '',
          ),
        });
      }
      if (++links % turn === 0) {
        await rest();
        call.signal.throwIfAborted();
      }
      if (links >= maxLinks || call.hurry()) {
        return owners;
      }
    }
  }
  return owners;
}
