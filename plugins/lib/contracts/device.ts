import type { HostInfo } from 'svc/edge-protocol';
import type { NamesById } from 'svc/query';
import { defineEvent, defineExtensionPoint, defineService } from 'svc/sdk';

/** Information that a machine reports about itself. An absent field keeps the known value. */
export type { HostInfo };

/** Introduction by an edge of the machine that it runs on. */
export interface Introduction {
  readonly edge_id: number;
  /** UUID that the agent keeps in its state file. */
  readonly machine_uuid: string;
  /** Public half of the key that the machine has proved; absent of an agent that has none. */
  readonly machine_key?: string | undefined;
  /** A person, or the enrolment of the edge, said that this machine is that device. */
  readonly takes_device?: number | undefined;
  /** Unchecked report of the machine: fields of another type, or out of bounds, are dropped. */
  readonly host_info: unknown;
  /**
   * Fingerprint of the hardware. It suggests which device a machine may have been; it never
   * decides.
   */
  readonly fingerprint?: string | undefined;
}

export type Bound =
  | {
      readonly status: 'bound';
      readonly device_id: number;
      readonly created: boolean;
      /** Other devices with the same fingerprint: a reinstalled machine, or a clone. */
      readonly resembles: readonly number[];
    }
  | {
      /** Stays so until the machine proves that it is the device or gets an identity of its own, or a person says that it is meant. */
      readonly status: 'conflict';
      /** The device that both claim. */
      readonly device_id: number;
      /** The edge that watches it, if any. */
      readonly edge_id: number | null;
      readonly reason: string;
    };

export interface DeviceEntry {
  readonly id: number;
  readonly display_name: string;
  readonly hostname: string | null;
  readonly ip_address: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
}

/** Which machine an edge watches. A device is never watched by two edges that are online at the same time. */
export interface DeviceDirectory {
  /**
   * Binds an edge to its device. Call it once an edge has authenticated and `edge.fleet` counts it
   * as online, so that of two clones that arrive simultaneously the second one finds the first.
   * Idempotent.
   */
  bind(introduction: Introduction): Promise<Bound>;
  /** The edge is gone for good. Its device stays. */
  release(edgeId: number): Promise<void>;
  /** The device that an edge watches; none while it is in conflict. */
  deviceOf(edgeId: number): Promise<number | undefined>;
  /** The edge through which a device can be reached at this moment. */
  onlineEdge(deviceId: number): Promise<number | undefined>;
  get(id: number): Promise<DeviceEntry | undefined>;
  /** Returns those of these devices that exist. */
  many(ids: readonly number[]): Promise<readonly DeviceEntry[]>;
  /** Returns devices after `after`, sorted by id. */
  page(after: number, limit: number): Promise<readonly DeviceEntry[]>;
}

export const DeviceDirectory = defineService<DeviceDirectory>('device.directory');

/** Host that a connected store has series of. */
export interface ReportedHost {
  /** Name under which the store knows it; the device is named so until a person renames it. */
  readonly name: string;
  /** Addresses by which a device that an agent watches may be known as well. */
  readonly addresses: readonly string[];
  readonly online: boolean;
  /** Time of its newest sample, by the clock of this process; absent: now if it is online, else not known. */
  readonly seen_at?: number | undefined;
  /** Unchecked report, as an agent's is. */
  readonly info: unknown;
}

/** Device that a reported host is. */
export interface ReportedDevice {
  readonly device_id: number;
  readonly display_name: string;
  /** True if an agent watches the device: its own figures count then. */
  readonly has_agent: boolean;
}

/** Devices that are known from the series of a store and not from an agent. They are never deleted here. */
export interface DeviceReports {
  /**
   * Returns the device of each host by its name; a host that no device is gets a new one. Hosts
   * that a later report of the source leaves out are offline from then on.
   */
  report(
    source: string,
    hosts: readonly ReportedHost[],
  ): Promise<ReadonlyMap<string, ReportedDevice>>;
  /** The same without writing anything; hosts that would get a new device are absent. */
  match(
    source: string,
    hosts: readonly ReportedHost[],
  ): Promise<ReadonlyMap<string, ReportedDevice>>;
  /** The source is no longer connected: its devices stay, offline unless somebody else reports them. */
  withdraw(source: string): Promise<void>;
}

export const DeviceReports = defineService<DeviceReports>('device.reports');

/** Current names of all devices, in memory: for texts that are rendered while nothing can be awaited. */
export interface DeviceNames {
  /** Name of the device with this id, as the label `device_id` has it; absent if there is none. */
  nameOf(id: string): string | undefined;
  /** All names by id. */
  all(): NamesById;
  /** Ids of the devices whose names match. */
  idsNamed(matches: (name: string) => boolean): readonly string[];
}

export const DeviceNames = defineService<DeviceNames>('device.names');

/** Fired once the service `device.names` has names that differ from those before. */
export const DevicesNamed = defineEvent<Record<string, never>>('device.named');

/** Details that another plugin knows of a device; shown with the device. */
export interface DeviceDetails {
  /** Host node of the device in the topology. */
  readonly node_id?: number;
}

export interface DeviceDetailSource {
  /**
   * Returns details by device; devices without any are absent. Called for each page of devices that
   * is shown.
   */
  detailsOf(deviceIds: readonly number[]): Promise<ReadonlyMap<number, DeviceDetails>>;
}

export const DeviceDetailSources = defineExtensionPoint<DeviceDetailSource>(
  'device.details',
  undefined,
  { methods: ['detailsOf'] },
);

/**
 * Fired after the commit. Only the id is sent: a listener that needs more queries it, and gets what
 * is true by then.
 */
export const DeviceCreated = defineEvent<{ readonly device_id: number }>('device.created');
/** Fired when the identity, the name or the edges of a device change. */
export const DeviceChanged = defineEvent<{ readonly device_id: number }>('device.changed');
/**
 * Fired when a device is deleted with the edges that watched it; such an edge gets another device
 * when it next introduces itself.
 */
export const DeviceRemoved = defineEvent<{
  readonly device_id: number;
  readonly edge_ids: readonly number[];
}>('device.removed');
