import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { findPeer, peers } from '../peers.ts';
import { Ground } from './alert-attack-ground.ts';
import {
  aSilenceThatEndsInAnOutage,
  churningSeries,
  equalLabels,
  overlappingSilences,
  rulesThatAreEdited,
} from './alert-attack-rules.ts';
import { begin, channelOf, ruleOf, type Scene } from './alert-attack-scene.ts';
import { FakedHouse } from './alert-truth-house.ts';

/**
 * The real server is attacked where it could lie: every message is compared with what burned then. `kills`: while the receiver
 * has a message that is not written down; `steps` of the clock; `only`: a part of the names of scenes.
 */
export async function run({
  kills = 10,
  steps = 6,
  only = '',
}: {
  readonly kills?: number;
  readonly steps?: number;
  readonly only?: string;
} = {}): Promise<Outcome> {
  const faketime = findPeer('libfaketimeMT.so.1');
  if (faketime === undefined) {
    return {
      ok: false,
      why: `libfaketime is not installed (Debian: apt-get install ${peers['libfaketimeMT.so.1']})`,
    };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  const passed: { scene: string; seconds: number }[] = [];
  try {
    const ground = await new Ground().listen(t);
    const faked = new FakedHouse(t, ground, faketime);
    await faked.start();
    const play = async ([scene, work]: readonly [
      string,
      (scene: Scene) => Promise<void>,
    ]): Promise<void> => {
      if (new RegExp(only).test(scene)) {
        const began = performance.now();
        await work({ ground, faked });
        passed.push({ scene, seconds: Math.round((performance.now() - began) / 1_000) });
      }
    };
    await Promise.all(together.map(play));
    await play(['kills', (scene) => killed(scene, kills)]);
    await play(['clock', (scene) => steppingClock(scene, steps)]);
    const { messages, said, faults } = ground;
    return {
      ok: faults.length === 0,
      messages,
      said: said.length,
      passed,
      ...(faults.length > 0 && { faults: faults.join('; ') }),
    };
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

const together: readonly (readonly [string, (scene: Scene) => Promise<void>])[] = [
  ['edited', rulesThatAreEdited],
  ['outage', aSilenceThatEndsInAnOutage],
  ['late', lateReceiver],
  ['equal', equalLabels],
  ['silences', overlappingSilences],
  ['churn', churningSeries],
  ['channels', channelsThatChange],
];

/** Answers after half a minute, when nobody waits any more. */
async function lateReceiver(scene: Scene): Promise<void> {
  const { ground } = scene;
  ground.moods.set('late', (answer) => void setTimeout(answer, 30_000));
  await begin(scene, 'late');
  await ground.until('late', 'it is told', () => ground.told('late', 'attack_late').length > 0);
  await pause(150_000);
  ground.expect('late', ground.told('late', 'attack_late'), ['firing 1.1']);
  ground
    .again('late', 'attack_late')
    .filter((times) => times > 2)
    .forEach((times) => ground.faults.push(`late: one message came ${times} times`));
}

/**
 * Checks that what waits when a channel is moved, disabled and enabled, or deleted and created
 * again, arrives once.
 */
async function channelsThatChange({ ground, faked }: Scene): Promise<void> {
  const dead = 'http://127.0.0.1:9/dead';
  const path = '/api/v1/notification-channels';
  const changes: Readonly<Record<string, (id: number, good: object) => Promise<unknown>>> = {
    moved: (id, good) => faked.put(`${path}/${id}`, good),
    disabled: async (id, good) => {
      await faked.put(`${path}/${id}`, { ...good, endpoint: dead, enabled: false });
      await pause(3_000);
      await faked.put(`${path}/${id}`, good);
    },
    deleted: async (id, good) => {
      await faked.remove(`${path}/${id}`);
      await pause(3_000);
      await faked.post(path, good);
    },
  };
  await Promise.all(
    Object.entries(changes).map(async ([scene, change]) => {
      const good = channelOf(ground, scene);
      const { id } = await faked.post<{ id: number }>(path, { ...good, endpoint: dead });
      await faked.post('/api/v1/alert-rules', ruleOf(scene));
      ground.set(scene, '1', true);
      await pause(12_000);
      await change(id, good);
      await ground.until(
        scene,
        'it is told',
        () => ground.told(scene, `attack_${scene}`).length > 0,
        120_000,
      );
      await pause(10_000);
      ground.set(scene, '1', false);
      await ground.until(
        scene,
        'its end is told',
        () => ground.told(scene, `attack_${scene}`).length > 1,
        120_000,
      );
      await pause(10_000);
      ground.expect(scene, ground.told(scene, `attack_${scene}`), ['firing 1.1', 'resolved 1.1']);
    }),
  );
}

/** Kills svc when the receiver has the message, and svc does not know yet. */
async function killed(scene: Scene, kills: number): Promise<void> {
  const { ground, faked } = scene;
  const rule = 'attack_kills';
  const wanted: string[] = [];
  let burns = false;
  await faked.post('/api/v1/notification-channels', channelOf(ground, 'kills'));
  await faked.post('/api/v1/alert-rules', ruleOf('kills'));
  for (const _kill of counted(kills, 'kills')) {
    burns = !burns;
    ground.set('kills', '1', burns);
    wanted.push(`${burns ? 'firing' : 'resolved'} 1.${Math.ceil((wanted.length + 1) / 2)}`);
    let hasCome!: () => void;
    const come = new Promise<void>((resolve) => (hasCome = resolve));
    ground.moods.set('kills', hasCome);
    const late = pause(90_000, 'late', { ref: false });
    if ((await Promise.race([come, late])) === 'late') {
      ground.faults.push(`kills: ${wanted.at(-1)} was not told`);
    }
    await faked.stop('SIGKILL');
    ground.moods.delete('kills');
    await faked.start();
    await ground.until(
      'kills',
      'it is told again',
      () => ground.again('kills', rule).length === wanted.length,
      90_000,
    );
  }
  await pause(5_000);
  ground.expect('kills', ground.told('kills', rule), wanted);
  ground.expect(
    'kills',
    ground.again('kills', rule),
    wanted.map(() => 2),
  );
}

/**
 * Steps the clock by an hour and a fraction of a second, forth and back, while one unit fires, one
 * is well, and each step changes one.
 */
async function steppingClock(scene: Scene, steps: number): Promise<void> {
  const { ground, faked } = scene;
  await begin(scene, 'clock');
  ground.set('clock', '2', false);
  await ground.until(
    'clock',
    'it is told',
    () => ground.told('clock', 'attack_clock').length === 1,
  );
  const wanted = ['firing 1.1'];
  for (let step = 0; step < steps; step += 1) {
    const by = (step % 4 === 0 || step % 4 === 3 ? 1 : -1) * (3_600 + 0.123_456 * (step + 1));
    faked.stepClock(step % 2 === 0 ? by : -faked.offsetSeconds);
    await pause(20_000);
    if (!(await faked.isEvaluating(`clock, step ${step}`))) {
      ground.faults.push(`clock: nothing is evaluated after step ${step}`);
    }
    if (step % 2 === 1) {
      // The clocks agree: what changes now must be told.
      const burns = wanted.length % 2 === 1;
      ground.set('clock', '2', burns);
      wanted.push(`${burns ? 'firing' : 'resolved'} 2.${Math.ceil(wanted.length / 2)}`);
      await ground.until(
        'clock',
        `${wanted.at(-1)} is told`,
        () => ground.told('clock', 'attack_clock').length === wanted.length,
        90_000,
      );
    }
  }
  ground.expect('clock', ground.told('clock', 'attack_clock'), wanted);
}
