import { setTimeout as pause } from 'node:timers/promises';

import { begin, channelOf, ruleOf, type Scene } from './alert-attack-scene.ts';

/** Edits that leave the condition met tell no end; those that end it, and a rule that goes, tell it once. */
export async function rulesThatAreEdited(scene: Scene): Promise<void> {
  const { ground, faked } = scene;
  const rule = 'attack_edited';
  const told = (): readonly string[] => ground.told('edited', rule);
  const { id } = await begin(scene, 'edited');
  const edit = (more: object) => faked.put(`/api/v1/alert-rules/${id}`, ruleOf('edited', more));
  const above = (threshold: number, more: object = {}) => ({
    conditions: [{ expr: `attack_heat{scene="edited"} > ${threshold}`, ...more }],
  });
  await ground.until('edited', 'it is told', () => told().length === 1);
  for (const harmless of [
    above(2),
    { name: 'Another name' },
    { labels: { team: 'db' } },
    above(3, { for: '4s' }),
    { annotations: { summary: 'hot' } },
  ]) {
    await edit(harmless);
    await pause(6_000);
  }
  ground.expect('edited, harmless', told(), ['firing 1.1']);
  await edit(above(10));
  await ground.until('edited', 'an end is told', () => told().length === 2);
  await edit(above(1));
  await ground.until('edited', 'it is told again', () => told().length === 3);
  await pause(3_000);
  await faked.remove(`/api/v1/alert-rules/${id}`);
  await ground.until('edited', 'the end of the rule is told', () => told().length === 4);
  await pause(8_000);
  const [first, second, third, last] = told();
  ground.expect(
    'edited',
    [first, second?.split(' ')[1], third, last, told().length],
    ['firing 1.1', '1.1', 'firing 1.2', 'over 1.2', 4],
  );
  ground.said
    .filter((one) => one.rule === rule && one.event === 'resolved')
    .forEach(() => ground.faults.push('edited: RESOLVED was said of what burned'));
}

/**
 * Tests a silence that ends in an outage: it fires muted, its source disappears, the silence ends.
 * No end is sent, and the firing is sent at the latest once its source is back.
 */
export async function aSilenceThatEndsInAnOutage(scene: Scene): Promise<void> {
  const { ground, faked } = scene;
  const told = (): readonly string[] => ground.told('outage', 'attack_outage');
  await faked.post('/api/v1/alerts/silences', {
    matchers: [{ name: 'scene', value: 'outage' }],
    duration: '40s',
    reason: 'drill',
  });
  await begin(scene, 'outage');
  await pause(20_000);
  ground.expect('outage, muted', told(), []);
  ground.away.add('outage');
  await pause(60_000);
  const meanwhile = told();
  if (meanwhile.some((one) => !one.startsWith('firing'))) {
    ground.faults.push(`outage: told ${meanwhile.join(', ')} while nothing was known`);
  }
  ground.away.delete('outage');
  await ground.until('outage', 'what burns is told', () => told().length === 1);
  ground.set('outage', '1', false);
  await ground.until('outage', 'its end is told', () => told().length === 2);
  await pause(5_000);
  ground.expect('outage', told(), ['firing 1.1', 'resolved 1.1']);
}

/**
 * Tests two rules that measure the same with the same labels: the warning is inhibited while the
 * critical one fires, and sent when that one ends.
 */
export async function equalLabels(scene: Scene): Promise<void> {
  const { ground, faked } = scene;
  const { id } = await begin(scene, 'equal', { labels: { service: 'shop' } });
  await ground.until(
    'equal',
    'the critical one is told',
    () => ground.told('equal', 'attack_equal').length === 1,
  );
  const labels = { labels: { service: 'shop' } };
  await faked.post('/api/v1/alert-rules', {
    ...ruleOf('equal', { ...labels, severity: 'warning' }),
    rule_key: 'attack_equal_too',
    name: 'Equal too',
  });
  await faked.post('/api/v1/alert-rules', {
    ...ruleOf('equal', labels),
    rule_key: 'attack_equal_third',
    name: 'Equal third',
  });
  await ground.until(
    'equal',
    'another critical one is told',
    () => ground.told('equal', 'attack_equal_third').length === 1,
  );
  await pause(10_000);
  ground.expect('equal, inhibited', ground.told('equal', 'attack_equal_too'), []);
  await faked.remove(`/api/v1/alert-rules/${id}`);
  await ground.until(
    'equal',
    'the end of the first is told',
    () => ground.told('equal', 'attack_equal').length === 2,
  );
  await pause(6_000);
  ground.expect('equal, still inhibited', ground.told('equal', 'attack_equal_too'), []);
  const third = await faked.get<{ items: { id: number; rule_key: string }[] }>(
    '/api/v1/alert-rules?q=Equal%20third',
  );
  await faked.remove(`/api/v1/alert-rules/${third.items[0]!.id}`);
  await ground.until(
    'equal',
    'the warning is told',
    () => ground.told('equal', 'attack_equal_too').length === 1,
  );
  ground.set('equal', '1', false);
  await ground.until(
    'equal',
    'the end of the warning is told',
    () => ground.told('equal', 'attack_equal_too').length === 2,
  );
  await pause(5_000);
  ground.expect('equal', ground.told('equal', 'attack_equal'), ['firing 1.1', 'over 1.1']);
  ground.expect('equal third', ground.told('equal', 'attack_equal_third'), [
    'firing 1.1',
    'over 1.1',
  ]);
  ground.expect('equal too', ground.told('equal', 'attack_equal_too'), [
    'firing 1.1',
    'resolved 1.1',
  ]);
}

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

/** One of two ends early: the other one mutes on. */
export async function overlappingSilences(scene: Scene): Promise<void> {
  const { ground, faked } = scene;
  const told = (): readonly string[] => ground.told('silences', 'attack_silences');
  const draft = { matchers: [{ name: 'scene', value: 'silences' }], reason: 'drill' };
  const [one, other] = [
    await faked.post<{ id: number }>('/api/v1/alerts/silences', { ...draft, duration: '10m' }),
    await faked.post<{ id: number }>('/api/v1/alerts/silences', { ...draft, duration: '20m' }),
  ];
  await begin(scene, 'silences');
  await pause(10_000);
  await faked.put(`/api/v1/alerts/silences/${one.id}`, { ...draft, ends_at: inSeconds(15) });
  await pause(25_000);
  ground.expect('silences, one left', told(), []);
  const since = Date.now();
  await faked.put(`/api/v1/alerts/silences/${other.id}`, { ...draft, ends_at: inSeconds(15) });
  await ground.until('silences', 'it is told', () => told().length === 1);
  const first = ground.said.find(({ channel }) => channel === 'silences');
  if (first !== undefined && first.at - since < 14_000) {
    ground.faults.push(
      `silences: told ${since + 15_000 - first.at} ms before the end of the silence`,
    );
  }
  ground.set('silences', '1', false);
  await ground.until('silences', 'its end is told', () => told().length === 2);
  await pause(5_000);
  ground.expect('silences', told(), ['firing 1.1', 'resolved 1.1']);
}

// Of the five minutes that a series counts they must not be more than a rule may have instances.
const mostUnits = 100;

/** Tests a hundred series of one incident whose labels change every few seconds while it fires. */
export async function churningSeries({ ground, faked }: Scene): Promise<void> {
  const of = (event: string): number =>
    ground.said.filter(({ channel, event: said }) => channel === 'churn' && said === event).length;
  await faked.post(
    '/api/v1/notification-channels',
    channelOf(ground, 'churn', { group_interval: '5s' }),
  );
  await faked.post('/api/v1/alert-rules', ruleOf('churn', { dimensions: ['scene'] }));
  ground.churn.set('churn', () => `,run="${Math.floor(Date.now() / 4_000)}"`);
  for (let unit = 0; unit < mostUnits; unit += 1) {
    ground.set('churn', `u${unit}`, true);
  }
  await ground.until('churn', 'it is told', () => of('firing') > 0, 90_000);
  await pause(60_000);
  ground.expect('churn, ends while it burns', [of('resolved') + of('over')], [0]);
  for (let unit = 0; unit < mostUnits; unit += 1) {
    ground.set('churn', `u${unit}`, false);
  }
  // Series of earlier runs burned when they were heard last, and count for five minutes.
  await ground.until('churn', 'its end is told', () => of('resolved') > 0, 420_000);
  await pause(15_000);
  ground.expect('churn, ends', [of('resolved'), of('over')], [1, 0]);
  ground.away.add('churn');
}
