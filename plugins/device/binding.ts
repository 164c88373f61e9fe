import type { Bound, HostInfo } from 'svc/contracts/device';

import { DeviceStore } from './store/device-store.ts';
import { edgeStore } from './store/edge-store.ts';
import { machineStore } from './store/machine-store.ts';
import { reportedHostStore } from './store/reported-host-store.ts';
import type { DeviceDb, DeviceRow, EdgeRow } from './store/tables.ts';

/** An introduction whose fields have been looked at. */
export interface Newcomer {
  readonly edgeId: number;
  readonly machine: string;
  /** Public half of the key that the machine has proved. */
  readonly key: string | undefined;
  /** The device that a person, or the enrolment of the edge, gave to this machine. */
  readonly takes: number | undefined;
  readonly fingerprint: string | undefined;
  readonly host: HostInfo;
}

/** Outcome of an introduction. */
export type Decision =
  | {
      readonly kind: 'conflict';
      readonly home: number | null;
      readonly device: number;
      readonly rival: number | null;
      readonly reason: string;
    }
  /**
   * Binding to a device; `taken` if a person or an enrolment decided so, whichever edge had it
   * before.
   */
  | { readonly kind: 'bind'; readonly device: DeviceRow; readonly taken: boolean }
  | { readonly kind: 'create' };

/**
 * A machine proves with its key that it is the device; the identity that it says is a name and no proof, for others may know it. What
 * is not proved, or is claimed twice at once, waits for a person: a device never moves to another machine unsaid.
 */
export async function decide(
  newcomer: Newcomer,
  db: DeviceDb,
  online: ReadonlySet<number>,
): Promise<Decision> {
  const { edgeId, machine, key, takes } = newcomer;
  const [edges, devices, machines] = [edgeStore(db), new DeviceStore(db), machineStore(db)];
  const own = await edges.find(edgeId);
  const home = own?.device_id ?? null;
  const conflict = (device: number, rival: number | null, reason: string): Decision => ({
    kind: 'conflict',
    home,
    device,
    rival,
    reason,
  });
  const watchers = async (device: number): Promise<EdgeRow[]> =>
    (await edges.watching(device)).filter(({ edge_id: id }) => id !== edgeId);
  const given = takes === undefined ? undefined : await devices.find(takes);

  if (
    !given &&
    own &&
    own.rival_device_id !== null &&
    own.rival_edge_id !== null &&
    own.machine_uuid === machine
  ) {
    // That the other one is offline by now does not say which of the two the machine is.
    const rival = await edges.find(own.rival_edge_id);
    if (rival?.device_id === own.rival_device_id && rival.rival_device_id === null) {
      const said = `edge ${rival.edge_id} already watches device ${rival.device_id} with the identity of this machine, and the conflict between the two is not settled`;
      return conflict(own.rival_device_id, rival.edge_id, said);
    }
  }
  const bearer = await machines.byUuid(machine);
  const keeper = key === undefined ? undefined : await machines.byKey(key);
  const device = given ?? (home === null ? (keeper ?? bearer) : await devices.find(home));
  if (!device) {
    const { hostname } = newcomer.host;
    // A device that only stores report has no machine yet, so none loses it.
    const reported =
      hostname === undefined ? undefined : await reportedHostStore(db).unwatched(hostname);
    return reported ? { kind: 'bind', device: reported, taken: true } : { kind: 'create' };
  }
  const beside = (await watchers(device.id)).find(({ edge_id: id }) => online.has(id));
  if (beside) {
    const said = `edge ${beside.edge_id}, which is online, already watches device ${device.id} with the identity of this machine; one of the two is a clone`;
    return conflict(device.id, beside.edge_id, said);
  }
  if (given) {
    return { kind: 'bind', device, taken: true };
  }
  const doubt = doubtOf(newcomer, device, home !== null);
  if (doubt !== undefined) {
    return conflict(device.id, (await watchers(device.id))[0]?.edge_id ?? null, doubt);
  }
  const other = [bearer, keeper].find((one) => one !== undefined && one.id !== device.id);
  if (other) {
    const [elsewhere] = await watchers(other.id);
    const who = elsewhere ? `which edge ${elsewhere.edge_id} watches` : 'which is not available';
    return conflict(
      other.id,
      elsewhere?.edge_id ?? null,
      `this machine is device ${device.id}, but it has the identity of device ${other.id}, ${who}`,
    );
  }
  return { kind: 'bind', device, taken: false };
}

/** Why the machine may be another one than the device is; undefined: it is the same. */
function doubtOf(
  { machine, key }: Newcomer,
  { id, machine_key: pinned, machine_uuid: known }: DeviceRow,
  isHome: boolean,
): string | undefined {
  if (pinned !== null) {
    if (key === pinned) {
      return undefined;
    }
    return key === undefined
      ? `device ${id} is bound to the key of its machine, and this machine presents none: it is another machine, or its agent is too old`
      : `device ${id} is bound to the key of its machine, and this one has another: it is another machine, or one that lost its key`;
  }
  // From before machines had keys: the edge that watches it states its identity, and its first key
  // is stored.
  if (isHome) {
    return machine === known
      ? undefined
      : `this edge watches device ${id}, and now comes from a machine of another identity`;
  }
  return `device ${id} is known by the identity that this machine reports, but there is no proof that it is the same machine`;
}

/** Returns whether everything is already stored as the newcomer states it. */
export const isSettled = (
  decision: Decision,
  own: EdgeRow | undefined,
  newcomer: Newcomer,
): boolean =>
  own !== undefined &&
  own.machine_uuid === newcomer.machine &&
  own.machine_key === (newcomer.key ?? null) &&
  (decision.kind === 'conflict'
    ? own.rival_edge_id === decision.rival &&
      own.rival_device_id === decision.device &&
      own.reason === decision.reason
    : decision.kind === 'bind' &&
      !decision.taken &&
      own.device_id === decision.device.id &&
      own.rival_device_id === null &&
      Object.keys(newsOf(newcomer, decision.device)).length === 0);

/** Returns the parts of the newcomer that the device does not have yet. */
export function newsOf(
  { machine, key, fingerprint, host }: Newcomer,
  device: DeviceRow,
  taken = false,
): Partial<DeviceRow> {
  const proved = key !== undefined || taken ? { machine_key: key ?? null } : {};
  const stated: Partial<DeviceRow> = {
    ...host,
    machine_uuid: machine,
    ...proved,
    ...(fingerprint !== undefined && { fingerprint }),
  };
  return Object.fromEntries(
    Object.entries(stated).filter(([field, value]) => device[field as keyof DeviceRow] !== value),
  );
}

/** Returns the answer to an edge, including the remedy. */
export const answerTo = (
  { edgeId }: Newcomer,
  { device, rival, reason }: Extract<Decision, { kind: 'conflict' }>,
): Bound => ({
  status: 'conflict',
  device_id: device,
  edge_id: rival,
  reason: `${reason}. If it is this machine: "svc device accept ${device} ${edgeId}"`,
});
