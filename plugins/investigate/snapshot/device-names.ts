import { DeviceDirectory } from 'svc/contracts/device';
import type { PluginContext } from 'svc/sdk';

export type NamesOf = (deviceIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Names hosts as people call them; without the directory none has a name. */
export function deviceNames(services: Pick<PluginContext['services'], 'maybe'>): NamesOf {
  const devices = services.maybe(DeviceDirectory);
  return async (ids) => {
    const found = devices.available ? await devices.get().many(ids.map(Number)) : [];
    return new Map(found.map(({ id, display_name: name }) => [String(id), name]));
  };
}
