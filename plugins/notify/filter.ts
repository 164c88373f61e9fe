import type { Notice } from './contract.ts';
import type { Channel } from './channel.ts';
import { severities } from './telling.ts';

/** Why a notice that begins something is not for this channel; undefined when it is. */
export function reasonAgainst({ incident, pins }: Notice, channel: Channel): string | undefined {
  const { severity, scope_type: scope, labels } = incident;
  if (pins.length > 0 && !pins.includes(channel.id)) {
    return 'the rule pins other channels';
  }
  if (!channel.enabled) {
    return 'the channel is disabled';
  }
  if (channel.severityMin !== '' && severities.indexOf(severity) < severities.indexOf(channel.severityMin)) {
    return `the channel takes ${channel.severityMin} and worse`;
  }
  if (channel.scopeTypes.length > 0 && !channel.scopeTypes.includes(scope)) {
    return `the channel takes the scopes ${channel.scopeTypes.join(', ')}`;
  }
  const other = Object.entries(channel.labels).find(([name, value]) => !Object.hasOwn(labels, name) || labels[name] !== value);
  return other && `the channel takes incidents with the label ${other[0]}="${other[1]}"`;
}
