import type { ChannelAddress } from 'svc/contracts/notify';
import type { Clock, Ids, Settings, Tables } from 'svc/sdk';

import { ChannelStore } from '../store/channel-store.ts';
import type { NotifyTables } from '../store/tables.ts';

/** Channels whose address is a setting, so that the environment can bring them. */
export const settingsChannels: readonly {
  readonly setting: string;
  readonly secret?: string;
  readonly type: string;
  readonly name: string;
}[] = [
  {
    setting: 'notify.webhook_url',
    secret: 'notify.webhook_secret',
    type: 'webhook',
    name: 'Webhook',
  },
  { setting: 'notify.feishu_url', secret: 'notify.feishu_secret', type: 'feishu', name: 'Feishu' },
  { setting: 'notify.slack_url', type: 'slack', name: 'Slack' },
  {
    setting: 'notify.dingtalk_url',
    secret: 'notify.dingtalk_secret',
    type: 'dingtalk',
    name: 'DingTalk',
  },
];

/** Empty where the setting is. */
export function addressOfSetting(settings: Pick<Settings, 'get'>, setting: string): ChannelAddress {
  const known = settingsChannels.find((channel) => channel.setting === setting);
  return known === undefined
    ? { endpoint: '', secret: '' }
    : {
        endpoint: settings.get<string>(known.setting),
        secret: known.secret === undefined ? '' : settings.get<string>(known.secret),
      };
}

export interface SettingsChannelsParts {
  readonly tables: Tables<NotifyTables>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Creates a channel for each setting that has an address and no channel yet; one that exists stays, filters and all. */
export async function createSettingsChannels({
  tables,
  settings,
  clock,
  ids,
}: SettingsChannelsParts): Promise<void> {
  const missing: (typeof settingsChannels)[number][] = [];
  for (const channel of settingsChannels) {
    const isSet = addressOfSetting(settings, channel.setting).endpoint !== '';
    if (isSet && (await new ChannelStore(tables.read).ofSetting(channel.setting)) === undefined) {
      missing.push(channel);
    }
  }
  if (missing.length === 0) {
    return;
  }
  await tables.write(async (tx) => {
    const store = new ChannelStore(tx);
    for (const { setting, type, name: wanted } of missing) {
      if ((await store.ofSetting(setting)) !== undefined) {
        continue;
      }
      const name = (await store.isTaken(wanted)) ? `${wanted} (${setting})` : wanted;
      const now = clock.now();
      await store.insert({
        ref: ids.uuid(),
        name,
        channel_type: type,
        standing: setting,
        endpoint_shown: '',
        match_severity_min: '',
        match_scope_types: '[]',
        match_labels: '{}',
        enabled: 1,
        send_resolved: 1,
        created_at: now,
        updated_at: now,
      });
    }
  });
}
