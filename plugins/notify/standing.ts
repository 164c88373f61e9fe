import type { Settings } from 'svc/sdk';

import type { ChannelAddress } from './contract.ts';

/** Channels whose address is a setting, so that the environment can bring them. */
export const standingChannels: readonly { readonly setting: string; readonly secret?: string; readonly type: string; readonly name: string }[] = [
  { setting: 'notify.webhook_url', secret: 'notify.webhook_secret', type: 'webhook', name: 'Webhook' },
  { setting: 'notify.feishu_url', secret: 'notify.feishu_secret', type: 'feishu', name: 'Feishu' },
  { setting: 'notify.slack_url', type: 'slack', name: 'Slack' },
  { setting: 'notify.dingtalk_url', secret: 'notify.dingtalk_secret', type: 'dingtalk', name: 'DingTalk' },
];

export function standingOf(settings: Pick<Settings, 'get'>, setting: string): ChannelAddress {
  const known = standingChannels.find((channel) => channel.setting === setting);
  return known === undefined
    ? { endpoint: '', secret: '' }
    : { endpoint: settings.get<string>(known.setting), secret: known.secret === undefined ? '' : settings.get<string>(known.secret) };
}
