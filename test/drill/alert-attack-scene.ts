import type { Ground } from './alert-attack-ground.ts';
import type { FakedHouse } from './alert-truth-house.ts';

export interface Scene {
  readonly ground: Ground;
  readonly faked: FakedHouse;
}

const frame = {
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'global',
  join_mode: 'all',
  severity: 'critical',
  dimensions: ['unit'],
};

export const ruleOf = (scene: string, more: object = {}) => ({
  ...frame,
  rule_key: `attack_${scene}`,
  name: `Attack ${scene}`,
  conditions: [{ expr: `attack_heat{scene="${scene}"} > 1` }],
  ...more,
});

export const channelOf = (ground: Ground, scene: string, more: object = {}) => ({
  name: scene,
  channel_type: 'webhook',
  endpoint: `${ground.hook}/${scene}`,
  match_labels: { scene },
  group_by: ['...'],
  group_wait: '0s',
  group_interval: '0s',
  ...more,
});

/** Creates a rule and a channel of one scene, with one unit that fires and has been notified. */
export async function begin(
  { ground, faked }: Scene,
  scene: string,
  more: object = {},
): Promise<{ readonly id: number }> {
  await faked.post('/api/v1/notification-channels', channelOf(ground, scene));
  const rule = await faked.post<{ id: number }>('/api/v1/alert-rules', ruleOf(scene, more));
  ground.set(scene, '1', true);
  return rule;
}
