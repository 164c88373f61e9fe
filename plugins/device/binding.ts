import type { Bound, HostInfo } from './contract.ts';
import { deviceStore } from './device-store.ts';
import { edgeStore } from './edge-store.ts';
import type { DeviceDb, DeviceRow, EdgeRow } from './tables.ts';

/** An introduction whose fields have been looked at. */
export interface Newcomer {
  readonly edgeId: number;
  readonly machine: string;
  readonly fingerprint: string | undefined;
  readonly host: HostInfo;
}

/** What an introduction comes to. */
export type Decision =
  | { readonly kind: 'conflict'; readonly home: number | null; readonly rival: Rival; readonly reason: string }
  /** `usurped`: the device that had the machine's identity before, and that no edge watches. */
  | { readonly kind: 'bind'; readonly device: DeviceRow; readonly usurped: number | undefined }
  | { readonly kind: 'create' };

type Rival = EdgeRow & { readonly device_id: number };

/**
 * The edge decides first, then the identity that the machine keeps. A device that another edge watches is never shared: while
 * that one is online both would be one machine, and which of the two it is only a person can tell.
 */
export async function decide({ edgeId, machine }: Newcomer, db: DeviceDb, online: ReadonlySet<number>): Promise<Decision> {
  const edges = edgeStore(db);
  const own = await edges.find(edgeId);
  const disputed = own !== undefined && own.rival_device_id !== null;
  // A machine that was in conflict and comes with another identity has been given one of its own.
  const known = disputed && own.machine_uuid !== machine ? undefined : own;
  const home = known?.device_id ?? undefined;
  const holder = await deviceStore(db).byMachine(machine);
  const target = home ?? holder?.id;
  const conflict = (rival: Rival, reason: string): Decision => ({ kind: 'conflict', home: home ?? null, rival, reason });

  if (known !== undefined && disputed) {
    // That the other one is offline by now does not say which of the two the machine is.
    const rival = await edges.find(known.rival_edge_id!);
    if (isWatching(rival) && rival.device_id === known.rival_device_id) {
      return conflict(
        rival,
        `edge ${rival.edge_id} already watches device ${rival.device_id} with the identity of this machine, and the conflict between the two is not settled`,
      );
    }
  }
  if (target === undefined) {
    return { kind: 'create' };
  }
  const beside = (await edges.watching(target)).filter(isWatching).find((other) => other.edge_id !== edgeId && online.has(other.edge_id));
  if (beside !== undefined) {
    return conflict(
      beside,
      `edge ${beside.edge_id}, which is online, already watches device ${target} with the identity of this machine; one of the two is a clone`,
    );
  }
  if (holder !== undefined && holder.id !== target) {
    const [elsewhere] = (await edges.watching(holder.id)).filter(isWatching);
    if (elsewhere !== undefined) {
      return conflict(
        elsewhere,
        `this edge watches device ${target}, but its machine has the identity of device ${holder.id}, which edge ${elsewhere.edge_id} watches`,
      );
    }
  }
  return { kind: 'bind', device: (await deviceStore(db).find(target))!, usurped: holder !== undefined && holder.id !== target ? holder.id : undefined };
}

/** Whether everything is on disk already as the newcomer says it. */
export const isSettled = (decision: Decision, own: EdgeRow | undefined, newcomer: Newcomer): boolean =>
  decision.kind === 'conflict'
    ? own?.machine_uuid === newcomer.machine && own.rival_edge_id === decision.rival.edge_id && own.rival_device_id === decision.rival.device_id
    : decision.kind === 'bind' &&
      decision.usurped === undefined &&
      own?.device_id === decision.device.id &&
      own.rival_device_id === null &&
      own.machine_uuid === newcomer.machine &&
      Object.keys(newsOf(newcomer, decision.device)).length === 0;

/** What of the newcomer the device does not know yet. */
export function newsOf({ machine, fingerprint, host }: Newcomer, device: DeviceRow): Partial<DeviceRow> {
  const stated: Partial<DeviceRow> = { ...host, machine_uuid: machine, ...(fingerprint !== undefined && { fingerprint }) };
  return Object.fromEntries(Object.entries(stated).filter(([field, value]) => device[field as keyof DeviceRow] !== value));
}

export const answerTo = ({ rival, reason }: Extract<Decision, { kind: 'conflict' }>): Bound => ({
  status: 'conflict',
  device_id: rival.device_id,
  edge_id: rival.edge_id,
  reason,
});

const isWatching = (row: EdgeRow | undefined): row is Rival => row !== undefined && row.device_id !== null && row.rival_device_id === null;
