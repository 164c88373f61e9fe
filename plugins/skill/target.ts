import type { DeviceDirectory } from 'svc/contracts/device';
import type { GateQuestion } from 'svc/contracts/gate';
import type { CallPlan, Tool, ToolCall } from 'svc/contracts/skill';
import { type ScopeSource, scopeOf } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';
import { guarded } from './guard/result-guard.ts';

/** Target of a call. */
export interface Target {
  readonly shown: CallPlan['target'];
  readonly gated: GateQuestion['target'];
  /** Returns the edge at this moment; undefined if it cannot be reached. */
  readonly edge: () => Promise<number | undefined>;
}

const manager: Target = {
  shown: { kind: 'manager', id: undefined, name: 'this manager' },
  gated: undefined,
  edge: () => Promise.resolve(undefined),
};

export interface TargetParts {
  readonly devices: Handle<DeviceDirectory>;
  readonly scopes: Handle<ScopeSource>;
}

/**
 * Returns the device that a call of an edge skill names, by its own id or by that of the edge that
 * watches it; one outside the caller's scope counts as not found.
 */
export async function targetOf(
  tool: Tool,
  call: ToolCall,
  { devices, scopes }: TargetParts,
): Promise<Target> {
  const { device_id: deviceId, edge_id: edgeId } = call;
  if (tool.scope === 'manager') {
    if (deviceId !== undefined || edgeId !== undefined) {
      throw errors.runs_on_manager({ key: tool.key });
    }
    return manager;
  }
  if ((deviceId === undefined) === (edgeId === undefined)) {
    throw errors.runs_on_device({ key: tool.key });
  }
  if (!devices.available) {
    throw errors.no_devices({ key: tool.key });
  }
  const directory = devices.get();
  const id = deviceId ?? (await directory.deviceOf(edgeId!));
  const seen = (await scopeOf(scopes, call.principal))?.ids;
  const device = id === undefined || seen?.has(id) === false ? undefined : await directory.get(id);
  if (id === undefined || device === undefined) {
    throw deviceId === undefined
      ? errors.edge_without_device({ edge: `${edgeId}` })
      : errors.no_device({ device: deviceId });
  }
  return {
    shown: { kind: 'device', id, name: device.display_name },
    gated: { device_id: id, labels: device.tags },
    edge: async () => edgeId ?? (await directory.onlineEdge(id)),
  };
}

/**
 * Renders what will run and where, as people sign it: every signed-in user can read it, so secrets
 * are hidden.
 */
export function rendered(
  { key }: Tool,
  params: Readonly<Record<string, unknown>>,
  { shown }: Target,
): string {
  const words = Object.entries(guarded(params) as object).map(
    ([name, value]) => `${name}=${JSON.stringify(value)}`,
  );
  return `${[key, ...words].join(' ')} on ${shown.name}${shown.id === undefined ? '' : ` (device ${shown.id})`}`;
}
