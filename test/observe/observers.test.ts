import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Logs, SelfMetrics, Observers } from '../../core/observe/index.ts';
import type { SelfLine, SelfRequest } from '../../core/sdk/index.ts';

const clock = { now: () => Date.UTC(2026, 10, 20, 18, 9), monotonic: () => 0 };
const request: SelfRequest = {
  requestId: 'r1',
  route: 'GET /api/v1/x',
  method: 'GET',
  plugin: 'x',
  status: 200,
  startedAt: 1,
  durationMs: 2,
  traceparent: undefined,
};

function watched(): {
  observers: Observers;
  broken: unknown[];
  log: ReturnType<Logs['logger']>;
  written: string[];
} {
  const broken: unknown[] = [];
  const written: string[] = [];
  const observers = new Observers((error) => void broken.push(error));
  const logs = new Logs({
    level: 'info',
    format: 'pretty',
    colour: false,
    clock,
    observers,
    write: (line) => void written.push(line),
  });
  return { observers, broken, written, log: logs.logger('alert') };
}

describe('who watches the house', () => {
  test('gets every line that is written, as JSON, with its level and component, and without its secrets', () => {
    const { observers, log } = watched();
    const lines: SelfLine[] = [];
    const leave = observers.onLine((line) => void lines.push(line));
    log.debug({}, 'below the level');
    log.warn({ password: 'CANARY', rule: 7 }, 'told to Bearer CANARY1234\u0007');
    leave();
    log.info({}, 'afterwards');
    assert.equal(lines.length, 1);
    const [{ text, ...rest }] = lines as [SelfLine];
    assert.deepEqual(rest, { at: clock.now(), level: 'warn', component: 'alert' });
    const { time, message, ...fields } = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual(fields, {
      level: 'warn',
      component: 'alert',
      password: '[redacted]',
      rule: 7,
    });
    assert.deepEqual(
      [time, message],
      ['2026-11-20T18:09:00.000Z', 'told to Bearer [redacted]\u0007'],
    );
    assert.doesNotMatch(text, /CANARY/);
  });

  test('who comes first is told how it all began, as far as that is kept', () => {
    const { observers, log } = watched();
    observers.unobserved(() => log.info({}, 'apart'));
    for (let line = 1; line <= 300; line++) {
      log.info({}, `line ${line}`);
    }
    assert.equal(observers.wantsLines, false);
    const told = (): string[] => {
      const texts: string[] = [];
      observers.onLine(
        ({ text }) => void texts.push((JSON.parse(text) as { message: string }).message),
      );
      return texts;
    };
    const [first, second] = [told(), told()];
    log.info({}, 'now');
    assert.deepEqual(
      [first.length, first[0], first[255], first[256]],
      [257, 'line 1', 'line 256', 'now'],
    );
    assert.deepEqual(second, ['now']);
  });

  test('gets every request, until it leaves', () => {
    const { observers } = watched();
    const requests: SelfRequest[] = [];
    assert.equal(observers.wantsRequests, false);
    const leave = observers.onRequest((one) => void requests.push(one));
    assert.deepEqual(
      [observers.wantsRequests, observers.wantsLines, observers.size],
      [true, true, 1],
      'lines are kept for who comes first',
    );
    observers.request(request);
    leave();
    observers.request(request);
    assert.deepEqual(requests, [request]);
    assert.deepEqual([observers.wantsRequests, observers.size], [false, 0]);
  });

  test('is not told of what it does unobserved, also when that takes a while', async () => {
    const { observers, log, written } = watched();
    const lines: string[] = [];
    observers.onLine(({ text }) => {
      lines.push(text);
      observers.unobserved(() => log.info({}, 'a line about a line'));
    });
    log.info({}, 'first');
    await observers.unobserved(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      log.info({}, 'second');
    });
    log.info({}, 'third');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { message: string }).message),
      ['first', 'third'],
    );
    assert.equal(written.length, 5, 'all of them were written');
  });

  test('and throws is told nothing any more; the line stands, and the others hear it', () => {
    const { observers, broken, log, written } = watched();
    const heard: string[] = [];
    observers.onLine(() => {
      throw new Error('I cannot read');
    });
    observers.onLine(({ text }) => void heard.push(text));
    log.info({}, 'one');
    log.info({}, 'two');
    assert.deepEqual([written.length, heard.length, broken.length, observers.size], [2, 2, 1, 1]);
  });
});

test('metrics are given as values, histograms as what a scrape would see', async (t) => {
  const metrics = new SelfMetrics({ version: '1.2.3' });
  t.after(() => metrics.close());
  const own = metrics.forPlugin('alert', () => undefined);
  own.counter('rules_total', 'Rules.', ['state']).add(3, { state: 'on' });
  own.histogram('seconds', 'Time.', [0.5, 1]).observe(0.7);
  const samples = await metrics.samples();
  const of = (name: string): unknown =>
    samples.filter((sample) => sample.name === name).map(({ labels, value }) => [labels, value]);
  assert.deepEqual(of('svc_build_info'), [[{ version: '1.2.3' }, 1]]);
  assert.deepEqual(of('svc_alert_rules_total'), [[{ state: 'on' }, 3]]);
  assert.deepEqual(of('svc_alert_seconds_bucket'), [
    [{ le: '0.5' }, 0],
    [{ le: '1' }, 1],
    [{ le: '+Inf' }, 1],
  ]);
  assert.deepEqual(of('svc_alert_seconds_count'), [[{}, 1]]);
  const text = await metrics.text();
  const names = new Set(samples.map(({ name }) => name));
  const scraped = new Set([...text.matchAll(/^([a-z0-9_]+)[{ ]/gm)].map(([, name]) => name!));
  assert.deepEqual([...names].sort(), [...scraped].sort(), 'nothing is missing');
});
