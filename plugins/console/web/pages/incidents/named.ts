import type { Device, Incident } from '../shapes.ts';
import type { Page } from '../../client/api.ts';
import { useData } from '../../client/data.ts';

/** Names of devices by id. */
export type Names = ReadonlyMap<string, string>;

/** Max devices of one request; in a larger fleet some remain ids. */
const most = 200;

const isBare = ({ device_id: device, labels }: Incident): boolean =>
  device !== null && labels['instance'] === undefined;

/**
 * Returns names of the devices that incidents refer to by id: one request for a whole list, and
 * none if all have names.
 */
export function useNames(incidents: readonly Incident[] | undefined): Names {
  const { value } = useData<Page<Device>>(incidents?.some(isBare) ? '/devices' : undefined, {
    query: { limit: most },
  });
  return new Map(value?.items.map(({ id, display_name: name }) => [String(id), name]));
}

/** Returns the name of one incident's device. */
export function useName(incident: Incident): Names {
  const { value } = useData<Device>(
    isBare(incident) ? `/devices/${encodeURIComponent(incident.device_id!)}` : undefined,
  );
  return new Map(value && [[incident.device_id!, value.display_name]]);
}

/** Returns the title; a rule without a summary of its own says "on device 7". */
export function titleOf(
  { summary, rule_name: rule, device_id: device }: Incident,
  names: Names,
): string {
  const name = device === null ? undefined : names.get(device);
  return name === undefined
    ? summary || rule
    : (summary || rule).replace(` on device ${device}`, () => ` on ${name}`);
}

/** Returns where an incident is, in short form. */
export const placeOf = (
  { labels, scope_type: type, scope_id: id }: Incident,
  names: Names,
): string =>
  labels['instance'] ??
  labels['service'] ??
  (type === 'host' ? (names.get(id) ?? id) : type.replaceAll('_', ' '));
