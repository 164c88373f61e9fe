import type { Incident } from '../shapes.ts';

/** Returns the title. */
export const titleOf = ({ summary, rule_name: rule }: Incident): string => summary || rule;

/** Returns where an incident is, in short form. */
export const placeOf = ({ labels, device_name: device, scope_type: type }: Incident): string =>
  device ?? labels['instance'] ?? labels['service'] ?? type.replaceAll('_', ' ');
