import { isSvcError, messageOf, type PluginContext } from 'svc/sdk';

import type { ChannelHealth } from './channels/channel-health.ts';
import { createSettingsChannels, settingsChannels } from './channels/settings-channels.ts';
import type { OutcomePublisher } from './queue/outcome-publisher.ts';
import type { Repeats } from './queue/repeats.ts';
import type { Lookout } from './store/lookout.ts';
import { removeExpired } from './store/retention.ts';
import type { NotifyTables } from './store/tables.ts';

export interface UpkeepParts {
  readonly tables: Lookout<NotifyTables>;
  readonly publisher: OutcomePublisher;
  readonly repeats: Repeats;
  readonly health: ChannelHealth;
}

const publishEveryMs = 500;
const measureEveryMs = 5_000;
/** Repeats are looked for when the next is due, and after the second: another group may be due by then. */
const repeatEveryMs = 1_000;
const maxRepeatMs = 10_000;
const hourMs = 3_600_000;

/** Schedules periodic work that no delivery waits for. */
export async function keepUp(
  { clock, ids, log, scope, settings }: PluginContext,
  { tables, publisher, repeats, health }: UpkeepParts,
): Promise<void> {
  /** Wraps a task whose storage errors are logged and retried at the next run. */
  const retried = (task: string, work: () => Promise<void>) => async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      log.warn(
        { event: 'notify.task_failed', cause: messageOf(error) },
        `failed to ${task}; will retry`,
      );
    }
  };
  const bringSettings = retried('create the channels of settings', () =>
    createSettingsChannels({ tables, settings, clock, ids }),
  );
  settingsChannels.forEach(({ setting }) => settings.watch(setting, bringSettings));
  await bringSettings();

  const publish = tables.whileStirred(() => publisher.publish());
  scope.interval(
    'publish outcomes',
    publishEveryMs,
    retried('publish outcomes of deliveries', publish),
  );
  scope.interval(
    'remove expired deliveries',
    hourMs,
    retried('remove expired deliveries', () => removeExpired(tables, clock)),
  );
  scope.interval(
    'measure channels',
    measureEveryMs,
    retried('measure channels', () => health.measure()),
  );
  let repeatAt = -Infinity;
  const repeat = async (): Promise<void> => {
    const now = clock.monotonic();
    if (now >= repeatAt) {
      repeatAt = now + maxRepeatMs;
      repeatAt = now + Math.min(maxRepeatMs, await repeats.repeat());
    }
  };
  scope.interval(
    're-send firing notifications',
    repeatEveryMs,
    retried('re-send firing notifications', repeat),
  );
}
