import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost } from 'svc/testing';

import { onlyInDrills } from '../../drill/rounds.ts';

const intervalMs = 5_000;

test(
  'a Prometheus that takes connections and answers nothing is told soon, holds up no cycle, and is noticed at once when it is back',
  onlyInDrills,
  async (t) => {
    let hangs = false;
    const answer = JSON.stringify({
      status: 'success',
      data: { resultType: 'vector', result: [] },
    });
    const peer = createServer((_request, response) => {
      if (!hangs) {
        response.setHeader('content-type', 'application/json').end(answer);
      }
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    t.after(() => {
      peer.closeAllConnections();
      peer.close();
    });
    const house = await startTestHost(t, {
      plugins: ['alert', 'metricsdb', 'logs'],
      environment: {
        SVC_METRICSDB_URL: `http://127.0.0.1:${(peer.address() as AddressInfo).port}`,
        SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
        SVC_ALERT_EVAL_INTERVAL: `${intervalMs / 1_000}s`,
      },
    });
    const info = () =>
      house.json<{
        last_cycle: { duration_ms: number; rules_evaluated: number; rules_failed: number };
        back_ends: { name: string; ok: boolean }[];
      }>('/api/v1/alerts/runtime-info');
    const states = async (): Promise<readonly string[]> =>
      (
        await house.json<{ items: { rule: string; status: string }[] }>('/api/v1/alerts/incidents')
      ).items.map(({ rule, status }) => `${rule} ${status}`);
    const secondsUntil = async (what: string, holds: () => Promise<boolean>): Promise<number> => {
      for (const began = performance.now(); ; await pause(200)) {
        const passed = performance.now() - began;
        if (await holds()) {
          return passed / 1_000;
        }
        assert.ok(passed < 60_000, what);
      }
    };
    await secondsUntil('all rules are evaluated', async () => {
      const { last_cycle: cycle } = await info();
      return cycle.rules_evaluated > 20 && cycle.rules_failed === 0;
    });
    assert.deepEqual(await states(), []);

    hangs = true;
    const told = await secondsUntil('it is told', async () =>
      (await states()).includes('alert_back_end_down open'),
    );
    assert.ok(told < intervalMs / 1_000 + 18, `told after ${told} s`);
    for (let look = 0; look < 15; look++) {
      const { last_cycle: cycle } = await info();
      assert.ok(cycle.duration_ms <= 2 * intervalMs, `a cycle took ${cycle.duration_ms} ms`);
      await pause(1_000);
    }
    const { last_cycle: cycle } = await info();
    assert.ok(cycle.duration_ms < 500, 'nothing waits for what is known to hang');

    hangs = false;
    const over = await secondsUntil('it is over', async () =>
      (await states()).includes('alert_back_end_down resolved'),
    );
    assert.ok(over < 12, `noticed after ${over} s`);
    t.diagnostic(`told after ${told.toFixed(1)} s, noticed after ${over.toFixed(1)} s`);
  },
);
