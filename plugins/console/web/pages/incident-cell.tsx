import { Mark, severityName, statusName, Tag, toneOf } from '../kit/status.tsx';
import type { Incident } from './shapes.ts';

/** Returns the title. */
export const titleOf = ({ summary, rule_name: rule }: Incident): string => summary || rule;

/** Returns where an incident is, in short form. */
export const placeOf = ({ labels, device_name: device, scope_type: type }: Incident): string =>
  device ?? labels['instance'] ?? labels['service'] ?? type.replaceAll('_', ' ');

/** The title in one line of a table, with its severity and whether it is silenced. */
export function TitleCell({ of }: { readonly of: Incident }) {
  const { severity, status } = of;
  return (
    <span class="status">
      <Mark tone={toneOf(severity, status)} label={severityName(severity)} />
      {!titleOf(of).includes(placeOf(of)) && <span class="place soft">{placeOf(of)}</span>}
      <span class="cut">{titleOf(of)}</span>
      {status === 'silenced' && <Tag>{statusName(status)}</Tag>}
    </span>
  );
}
