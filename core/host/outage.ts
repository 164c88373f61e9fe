import type { Outage } from '../registry/index.ts';
import type { Clock } from '../sdk/index.ts';
import type { QuarantineEntry } from './ports.ts';
import type { PluginRecord } from './record.ts';

const usualRetrySeconds = 5;

/** The mounts of a plugin that does not serve, with the sentence that its callers get. */
export function outagesOf(record: PluginRecord, quarantine: QuarantineEntry | undefined, clock: Clock): readonly Outage[] {
  const retryAt = quarantine?.retryAt;
  const seconds = retryAt === undefined ? usualRetrySeconds : Math.max(1, Math.ceil((retryAt - clock.now()) / 1000));
  return (record.manifest?.mounts ?? []).map((mount) => ({
    pluginId: record.id,
    mount,
    code: 'unavailable',
    message: sentence(record),
    retryAfterSeconds: record.state === 'quarantined' ? seconds : usualRetrySeconds,
  }));
}

/** Causes may hold internals of the plugin; callers get them only where the host wrote them. */
function sentence(record: PluginRecord): string {
  switch (record.state) {
    case 'blocked':
      return `${record.manifest?.title ?? record.id} is blocked: it ${record.cause ?? 'waits for a service'}`;
    case 'disabled':
      return `${record.manifest?.title ?? record.id} is disabled`;
    case 'quarantined':
      return `${record.manifest?.title ?? record.id} is out of service after repeated errors and will be tried again`;
    case 'discovered':
    case 'loading':
      return `${record.manifest?.title ?? record.id} is starting`;
    default:
      return `${record.manifest?.title ?? record.id} could not be started; an administrator finds the reason in its plugin page`;
  }
}
