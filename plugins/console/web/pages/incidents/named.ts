import type { Device, Incident } from '../shapes.ts';
import type { Page } from '../../client/api.ts';
import { useData } from '../../client/data.ts';

/** What devices are called, by their number. */
export type Names = ReadonlyMap<string, string>;

/** So many devices are asked for at once; in a larger fleet some stay numbers. */
const most = 200;

const isBare = ({ device_id: device, labels }: Incident): boolean =>
  device !== null && labels['instance'] === undefined;

/** Of the devices that incidents have by number alone: one question for a whole list, and none where each has its name. */
export function useNames(incidents: readonly Incident[] | undefined): Names {
  const { value } = useData<Page<Device>>(incidents?.some(isBare) ? '/devices' : undefined, {
    query: { limit: most },
  });
  return new Map(value?.items.map(({ id, display_name: name }) => [String(id), name]));
}

/** Of the device of one incident. */
export function useName(incident: Incident): Names {
  const { value } = useData<Device>(
    isBare(incident) ? `/devices/${encodeURIComponent(incident.device_id!)}` : undefined,
  );
  return new Map(value && [[incident.device_id!, value.display_name]]);
}

/** A rule without a summary of its own says "on device 7". */
export function titleOf(
  { summary, rule_name: rule, device_id: device }: Incident,
  names: Names,
): string {
  const name = device === null ? undefined : names.get(device);
  return name === undefined
    ? summary || rule
    : (summary || rule).replace(` on device ${device}`, () => ` on ${name}`);
}

/** Where an incident is, as short as people say it. */
export const placeOf = (
  { labels, scope_type: type, scope_id: id }: Incident,
  names: Names,
): string =>
  labels['instance'] ??
  labels['service'] ??
  (type === 'host' ? (names.get(id) ?? id) : type.replaceAll('_', ' '));
