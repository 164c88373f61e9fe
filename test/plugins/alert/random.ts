import assert from 'node:assert/strict';

import { phaseOf } from '../../../plugins/alert/queries/slots.ts';
import { Engine, hour, interval, second, someone } from './engine-house.ts';
import { devices, keyOf, Model, modelRules } from './model.ts';

/** A small generator of numbers that a seed repeats. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

export interface Walk {
  readonly operations: number;
  readonly events: number;
  readonly notices: number;
  readonly restarts: number;
  readonly jumps: number;
}

/** Text whose slot is at the ticks of the walk, shared by all rules: the model knows one time. */
const onTheTick = Array.from({ length: 1_000 }, (_, at) => `measure ${at}`).find(
  (text) => phaseOf(text, interval) === 0,
)!;

/** Does the same to the engine and to the model, at random, and holds every state, event and notice of one against the other. */
export async function walk(seed: number, operations: number): Promise<Walk> {
  const random = numbers(seed);
  const engine = await new Engine().open();
  const model = new Model();
  let restarts = 0;
  let jumps = 0;
  try {
    const rules = modelRules.map(({ key, severity, forMs, damp }) =>
      engine.book.add({
        rule_key: key,
        severity,
        legs: [{ query: key, measure: onTheTick, forMs }],
        ...(damp && { notify_window_seconds: damp.windowMs / second, notify_min_fires: damp.min }),
      }),
    );
    assert.equal(rules.length, modelRules.length);
    // What they measure is there, whether or not it breaches.
    engine.answers.set(
      onTheTick,
      devices.map((device) => ({ device_id: device, value: 0 })),
    );
    let asked = 0;
    const look = async (): Promise<void> => {
      await engine.evaluator.tick();
      const due = new Set(engine.asked.slice(asked).flatMap(({ queries }) => queries));
      asked = engine.asked.length;
      model.tick(due);
    };
    for (let done = 0; done < operations; done++) {
      const chance = random(100);
      const thing = model.things[random(model.things.length)]!;
      const key = keyOf(thing);
      if (chance < 25) {
        flip(engine, model, key);
      } else if (chance < 78) {
        const ms = chance < 70 ? interval : (1 + random(8)) * interval;
        engine.clock.advance(ms);
        model.time += ms;
        await look();
      } else if (chance < 95) {
        await act(
          engine,
          model,
          key,
          (['ack', 'silence', 'unsilence', 'resolve'] as const)[random(4)]!,
        );
      } else if (chance < 98) {
        restarts += 1;
        await engine.restart();
        model.restart();
      } else {
        jumps += 1;
        const ms = (random(2) === 0 ? 1 : -1) * (1 + random(2 * hour));
        // Whole seconds, as slots are.
        const whole = Math.trunc(ms / interval) * interval;
        engine.clock.jump(whole);
        model.jump(whole);
        await look();
      }
      if (done % 50 === 49 || done === operations - 1) {
        await compare(engine, model, `seed ${seed}, after ${done + 1} operations`);
      }
    }
    return {
      operations,
      events: model.things.reduce((sum, { events }) => sum + events.length, 0),
      notices: model.notices.length,
      restarts,
      jumps,
    };
  } finally {
    await engine.close();
  }
}

function flip(engine: Engine, model: Model, key: string): void {
  if (!model.hot.delete(key)) {
    model.hot.add(key);
  }
  for (const { key: rule } of modelRules) {
    engine.answers.set(
      rule,
      devices
        .filter((device) => model.hot.has(`${rule}:host:${device}`))
        .map((device) => ({ device_id: device, value: 1 })),
    );
  }
}

async function act(
  engine: Engine,
  model: Model,
  key: string,
  what: 'ack' | 'silence' | 'unsilence' | 'resolve',
): Promise<void> {
  const thing = model.thing(key);
  if (thing.status === 'none') {
    return;
  }
  const { id } = (await engine.incident(key))!;
  const acts = {
    ack: () => engine.operations.acknowledge(id, undefined, someone),
    silence: () => engine.operations.silence(id, { hours: 0.5 }, someone),
    unsilence: () => engine.operations.unsilence(id, someone),
    resolve: () => engine.operations.resolve(id, undefined, someone),
  };
  const done = await acts[what]().then(
    () => true,
    ({ code }: { code: string }) => code !== 'conflict' && assert.fail(code),
  );
  assert.equal(done, model.act(thing, what), `${what} of ${key} while ${thing.status}`);
}

async function compare(engine: Engine, model: Model, when: string): Promise<void> {
  for (const thing of model.things) {
    const key = keyOf(thing);
    const incident = await engine.incident(key);
    assert.equal(incident?.status ?? 'none', thing.status, `${when}: status of ${key}`);
    const rows = await engine.tables.read
      .selectFrom('alert_events')
      .select(['type', 'status_after'])
      .where('incident_id', '=', incident?.id ?? 0)
      .orderBy('id')
      .execute();
    const found = rows.map(({ type, status_after: status }) => `${type} ${status}`);
    const at = found.findIndex((row, index) => row !== thing.events[index]);
    assert.ok(
      found.length === thing.events.length && at < 0,
      `${when}: events of ${key} differ from ${at}: engine ${JSON.stringify(around(found, at))}, model ${JSON.stringify(around(thing.events, at))}`,
    );
  }
  assert.deepEqual(engine.sent.toSorted(), model.notices.toSorted(), `${when}: notices`);
}

const around = (rows: readonly string[], at: number): readonly string[] =>
  at < 0 ? rows.slice(-4) : rows.slice(Math.max(0, at - 3), at + 3);
