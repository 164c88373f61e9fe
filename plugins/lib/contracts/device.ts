import type { HostInfo } from 'svc/probe';
import { defineEvent, defineExtensionPoint, defineService } from 'svc/sdk';

/** What a machine says about itself. A field that is absent leaves what is known. */
export type { HostInfo };

/** How an edge introduces the machine that it runs on. */
export interface Introduction {
  readonly edge_id: number;
  /** Kept by the agent in its state file. */
  readonly machine_uuid: string;
  /** Public half of the key that the machine has proved; absent of an agent that has none. */
  readonly machine_key?: string | undefined;
  /** A person, or the enrolment of the edge, said that this machine is that device. */
  readonly takes_device?: number | undefined;
  /** As it came from the machine: fields of another type, or beyond their bounds, are left out. */
  readonly host_info: unknown;
  /** Of the hardware. It suggests which device a machine may have been; it never decides. */
  readonly fingerprint?: string | undefined;
}

export type Bound =
  | {
      readonly status: 'bound';
      readonly device_id: number;
      readonly created: boolean;
      /** Other devices with the same fingerprint: a machine that was set up anew, or a clone. */
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
   * Ask when an edge has proved who it is and `edge.fleet` counts it as online, so that of two clones that come at the same
   * moment the second one finds the first. Repeating it changes nothing.
   */
  bind(introduction: Introduction): Promise<Bound>;
  /** The edge is gone for good. Its device stays. */
  release(edgeId: number): Promise<void>;
  /** The device that an edge watches; none while it is in conflict. */
  deviceOf(edgeId: number): Promise<number | undefined>;
  /** The edge through which a device can be reached at this moment. */
  onlineEdge(deviceId: number): Promise<number | undefined>;
  get(id: number): Promise<DeviceEntry | undefined>;
  /** Those of these that there are. */
  many(ids: readonly number[]): Promise<readonly DeviceEntry[]>;
  /** In the order of their ids, from behind `after`. */
  page(after: number, limit: number): Promise<readonly DeviceEntry[]>;
}

export const DeviceDirectory = defineService<DeviceDirectory>('device.directory');

/** What another plugin knows of a device; it is shown with the device. */
export interface DeviceDetails {
  /** Its host node in the topology. */
  readonly node_id?: number;
}

export interface DeviceDetailSource {
  /** By device; a device of which nothing is known is absent. Asked for each page of devices that is shown. */
  detailsOf(deviceIds: readonly number[]): Promise<ReadonlyMap<number, DeviceDetails>>;
}

export const DeviceDetailSources = defineExtensionPoint<DeviceDetailSource>('device.details', {
  type: 'object',
  required: ['detailsOf'],
});

/** After the commit. Only the id is sent: a listener that wants more asks, and gets what is true by then. */
export const DeviceCreated = defineEvent<{ readonly device_id: number }>('device.created');
/** What it is, what it is called, or which edges watch it. */
export const DeviceChanged = defineEvent<{ readonly device_id: number }>('device.changed');
/** With the edges that watched it; the next time one introduces itself it gets another device. */
export const DeviceRemoved = defineEvent<{
  readonly device_id: number;
  readonly edge_ids: readonly number[];
}>('device.removed');
